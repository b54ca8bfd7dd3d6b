// What every page has beside its links and forms: the theme switch, the menu of small screens, copying, "/" to search.
(() => {
  const root = document.documentElement;
  const themes = document.querySelectorAll("[data-set-theme]");
  const show = () => themes.forEach((button) =>
    button.setAttribute("aria-pressed", String(button.dataset.setTheme === (root.dataset.theme || "system"))));
  themes.forEach((button) => button.addEventListener("click", () => {
    const theme = button.dataset.setTheme;
    if (theme === "system") delete root.dataset.theme; else root.dataset.theme = theme;
    try { localStorage.setItem("sidecar-theme", theme); } catch { /* it holds for this page */ }
    show();
  }));
  show();

  const menu = document.querySelector(".menu");
  const side = document.querySelector(".side");
  menu?.addEventListener("click", () => {
    const open = side.classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });

  const told = document.getElementById("told");
  document.querySelectorAll(".command button").forEach((button) => button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
      if (told) told.textContent = "Copied: " + text;
    } catch {
      getSelection().selectAllChildren(button.parentElement.querySelector("code"));
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }));

  // A choice in a filter is what a person came for: no second click. Without scripts there is the button.
  document.querySelectorAll("form[data-at-once] select").forEach((select) =>
    select.addEventListener("change", () => select.form.requestSubmit()));

  document.addEventListener("keydown", (event) => {
    const busy = /^(input|select|textarea)$/i.test(document.activeElement?.tagName || "");
    if (event.key !== "/" || busy || event.ctrlKey || event.metaKey || event.altKey) return;
    const box = document.getElementById("q");
    if (box) { event.preventDefault(); box.focus(); box.select(); }
  });
})();
