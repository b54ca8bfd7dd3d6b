// Before anything is drawn: the colours a person chose here, and that scripts run.
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  let theme = "";
  try { theme = localStorage.getItem("sidecar-theme") || ""; } catch { /* storage is off: follow the system */ }
  if (theme === "light" || theme === "dark") root.dataset.theme = theme;
})();
