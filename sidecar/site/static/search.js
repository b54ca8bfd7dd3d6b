// Search without a server: every word must be found; titles, ids and tags count more than texts.
"use strict";
(() => {
  document.documentElement.classList.add("js");
  const records = window.sidecarIndex || [];
  const input = document.getElementById("words");
  const past = document.getElementById("past");
  const list = document.getElementById("found");
  const told = document.getElementById("told");
  const MOST = 50;
  const fold = (text) => text.normalize("NFKC").toLowerCase();
  const folded = records.map((one) => ({
    title: fold(one.title), id: fold(one.id), tags: fold(one.tags.join(" ")), text: fold(one.text),
  }));

  function score(words, at) {
    let sum = 0;
    for (const word of words) {
      const one = folded[at];
      const points = (one.id === word ? 50 : one.id.includes(word) ? 8 : 0) + (one.title.includes(word) ? 10 : 0)
        + (one.tags.includes(word) ? 6 : 0) + (one.text.includes(word) ? 2 : 0);
      if (!points) return 0;
      sum += points;
    }
    return sum;
  }

  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function row(one) {
    const item = element("li");
    const heading = element("h2");
    const link = element("a", one.title);
    link.href = one.url;
    heading.append(link);
    const meta = element("p", "", "meta");
    meta.append(element("span", one.status, "status s-" + one.status), " ", element("code", one.id), " ",
      element("span", one.kind), " ", element("span", one.date, "num"));
    item.append(heading, meta);
    return item;
  }

  function show() {
    const words = fold(input.value).split(/\s+/).filter(Boolean);
    const hits = words.length
      ? records.map((one, at) => [score(words, at), at]).filter(([points, at]) => points && (past.checked || records[at].now))
      : [];
    hits.sort((a, b) => records[b[1]].now - records[a[1]].now || b[0] - a[0] || a[1] - b[1]);
    list.replaceChildren(...hits.slice(0, MOST).map(([, at]) => row(records[at])));
    const held = words.length && !past.checked ? records.filter((one, at) => !one.now && score(words, at)).length : 0;
    told.textContent = !words.length ? records.length + " records"
      : (hits.length ? hits.length + " found" + (hits.length > MOST ? ", the first " + MOST + " shown" : "") : "Nothing found")
        + (held ? "; " + held + " more not in force" : "");
  }

  input.addEventListener("input", show);
  past.addEventListener("change", show);
  const asked = decodeURIComponent(location.hash.slice(1));
  if (asked) input.value = asked;
  show();
  input.focus();
})();
