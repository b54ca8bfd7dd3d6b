// Draws the tables below the drawing: their rows are the only data there is. d3 lays out, pans and zooms.
(() => {
  const box = document.getElementById("graph");
  const svg = d3.select("#drawing");
  const rows = (id) => [...document.querySelectorAll(`#${id} tbody tr`)];
  const cut = (text, most) => (text.length > most ? text.slice(0, most - 1).trimEnd() + "…" : text);
  const nodes = rows("nodes").map((row) => ({ ...row.dataset, row }));
  const edges = rows("edges").map((row) => ({ source: row.dataset.from, target: row.dataset.to, type: row.dataset.type, row }));
  if (!nodes.length) return;
  box.hidden = false;
  const wide = box.getBoundingClientRect().width > 600;
  const most = wide ? 30 : 24;
  const shorten = (node) => node.kind === "path" && node.id.length > most ? "…" + node.id.slice(1 - most) : cut(node.id, most);

  // --- how large each node is: measured once, with the fonts of the page
  const pen = document.createElement("canvas").getContext("2d");
  const style = getComputedStyle(document.body);
  const width = (text, font) => { pen.font = font; return pen.measureText(text).width; };
  const mono = getComputedStyle(document.querySelector("code") || document.body).fontFamily;
  for (const node of nodes) {
    const record = node.kind === "record";
    node.label = shorten(node);
    node.line2 = record && wide ? cut(node.title, 34) : "";
    const first = record ? width(node.label, `12px ${style.fontFamily}`) + 16 : width(node.label, `11px ${mono}`);
    node.w = Math.max(first, width(node.line2, `11px ${style.fontFamily}`)) + 22;
    node.h = node.line2 ? 40 : 24;
  }
  const centre = nodes.find((node) => node.distance === "0");

  // --- layout: forces, run to their end before anything is shown, the same each time
  const apart = () => {
    for (let round = 0; round < 40; round++) {
      let moved = false;
      for (let i = 0; i < nodes.length; i++) for (let j = i + 1; j < nodes.length; j++) {
        const a = nodes[i], b = nodes[j];
        const x = (a.w + b.w) / 2 + 14 - Math.abs(a.x - b.x), y = (a.h + b.h) / 2 + 12 - Math.abs(a.y - b.y);
        if (x <= 0 || y <= 0) continue;
        moved = true;
        const along = y < x ? "y" : "x", by = Math.min(x, y) / 2 + .5;
        const sign = a[along] < b[along] || (a[along] === b[along] && i < j) ? 1 : -1;
        if (a !== centre) a[along] -= sign * (b === centre ? 2 * by : by);
        if (b !== centre) b[along] += sign * (a === centre ? 2 * by : by);
      }
      if (!moved) break;
    }
  };
  if (centre) { centre.fx = 0; centre.fy = 0; }
  d3.forceSimulation(nodes)
    .force("link", d3.forceLink(edges).id((node) => node.key).strength(.4)
      .distance((edge) => 70 + (edge.source.w + edge.target.w) / (wide ? 2.6 : 4)))
    .force("charge", d3.forceManyBody().strength(-700))
    .force("x", d3.forceX().strength(wide ? .035 : .1)).force("y", d3.forceY().strength(wide ? .1 : .04))
    .force("collide", d3.forceCollide((node) => Math.hypot(node.w, node.h) / 2.4))
    .stop().tick(300);
  apart();

  // --- drawing
  const ns = "http://www.w3.org/2000/svg";
  const types = [...new Set(edges.map((edge) => edge.type))];
  svg.append("defs").selectAll("marker").data(types).join("marker")
    .attr("id", (type) => `arrow-${type}`).attr("class", (type) => `e-${type}`).attr("viewBox", "0 0 10 10")
    .attr("refX", 9).attr("refY", 5).attr("markerWidth", 7).attr("markerHeight", 7).attr("orient", "auto")
    .append("path").attr("class", "arrow").attr("d", "M0 1L10 5L0 9z");
  const room = svg.append("g");
  const border = (from, to) => {
    const dx = to.x - from.x, dy = to.y - from.y;
    const share = Math.min(from.w / 2 / (Math.abs(dx) || 1e-6), from.h / 2 / (Math.abs(dy) || 1e-6), 1);
    return [from.x + dx * share, from.y + dy * share];
  };
  const lines = room.append("g").selectAll("line").data(edges).join("line")
    .attr("class", (edge) => `edge e-${edge.type}`).attr("marker-end", (edge) => `url(#arrow-${edge.type})`);
  lines.each(function place(edge) {
    const [x1, y1] = border(edge.source, edge.target), [x2, y2] = border(edge.target, edge.source);
    for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) this.setAttribute(name, value.toFixed(1));
  });
  lines.append("title").text((edge) => `${edge.source.id} ${edge.type.replaceAll("_", " ")} ${edge.target.id}`);
  const boxes = room.append("g").selectAll("a").data(nodes).join((enter) => enter.append((node) => {
    const link = document.createElementNS(ns, "a");
    if (node.url) link.setAttribute("href", node.url); else link.setAttribute("tabindex", "0");
    return link;
  }))
    .attr("class", (node) => `node n-${node.kind}${node === centre ? " centre" : ""}`)
    .attr("transform", (node) => `translate(${node.x.toFixed(1)} ${node.y.toFixed(1)})`)
    .attr("aria-label", (node) => `${[node.label, node.line2].filter(Boolean).join(" ")}, ${node.status || node.kind}`);
  boxes.append("rect").attr("x", (n) => -n.w / 2).attr("y", (n) => -n.h / 2).attr("width", (n) => n.w).attr("height", (n) => n.h)
    .attr("rx", (node) => (node.kind === "record" ? 7 : 4));
  boxes.filter((node) => node.kind === "record").append("circle").attr("class", (node) => `f-${node.status}`)
    .attr("cx", (n) => -n.w / 2 + 13).attr("cy", (n) => (n.line2 ? -8 : 0)).attr("r", 4.5);
  boxes.append("text").attr("x", (n) => -n.w / 2 + (n.kind === "record" ? 23 : 11)).attr("y", (n) => (n.line2 ? -4 : 4)).text((n) => `${n.label} `);
  boxes.filter((node) => node.line2).append("text").attr("class", "line2").attr("x", (n) => -n.w / 2 + 11).attr("y", 12).text((n) => n.line2);

  function told(node) {
    return [node.title ? `${node.id}: ${node.title}` : node.id, node.kind, node.status].filter(Boolean).join(", ");
  }
  const panel = document.getElementById("node-told");
  const near = (node) => new Set(edges.filter((e) => e.on && (e.source === node || e.target === node)).flatMap((e) => [e.source, e.target]));
  const point = (node) => {
    panel.textContent = told(node);
    const close = near(node).add(node);
    boxes.classed("dim", (other) => !close.has(other));
    lines.classed("dim", (edge) => edge.source !== node && edge.target !== node);
  };
  const rest = () => { boxes.classed("dim", false); lines.classed("dim", false); };
  boxes.on("mouseenter focus", (_, node) => point(node)).on("mouseleave blur", rest);

  // --- pan and zoom, by hand and by key
  const zoom = d3.zoom().scaleExtent([.15, 3]).on("zoom", (event) => room.attr("transform", event.transform));
  svg.call(zoom).on("dblclick.zoom", null);
  const fit = () => {
    const shown = nodes.filter((node) => node.on), frame = svg.node().getBoundingClientRect();
    const left = Math.min(...shown.map((n) => n.x - n.w / 2)), right = Math.max(...shown.map((n) => n.x + n.w / 2));
    const top = Math.min(...shown.map((n) => n.y - n.h / 2)), bottom = Math.max(...shown.map((n) => n.y + n.h / 2));
    const least = wide ? .45 : .75;
    const scale = Math.max(Math.min(frame.width / (right - left + 40), frame.height / (bottom - top + 90), 1.25), least);
    const whole = scale > least;
    const at = whole ? [(left + right) / 2, (top + bottom) / 2] : [centre.x, centre.y];
    svg.call(zoom.transform, d3.zoomIdentity.translate(frame.width / 2, frame.height / 2 + 10).scale(scale).translate(-at[0], -at[1]));
  };
  document.querySelectorAll("[data-zoom]").forEach((button) => button.addEventListener("click", () =>
    button.dataset.zoom === "fit" ? fit() : svg.call(zoom.scaleBy, Number(button.dataset.zoom))));
  const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
  svg.on("keydown", (event) => {
    if (event.target !== svg.node() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (moves[event.key]) svg.call(zoom.translateBy, ...moves[event.key]);
    else if (event.key === "+" || event.key === "=") svg.call(zoom.scaleBy, 1.3);
    else if (event.key === "-") svg.call(zoom.scaleBy, .77);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  boxes.on("focus.pan", (_, node) => {
    const frame = svg.node().getBoundingClientRect(), [x, y] = d3.zoomTransform(svg.node()).apply([node.x, node.y]);
    if (x < 20 || y < 20 || x > frame.width - 20 || y > frame.height - 20) svg.call(zoom.translateTo, node.x, node.y);
  });

  // --- filter by edge type: drawing and tables alike; what nothing joins any more goes, but for the centre
  const checks = [...document.querySelectorAll("[data-type][type=checkbox]")];
  const filter = () => {
    const on = new Set(checks.filter((check) => check.checked).map((check) => check.dataset.type));
    for (const edge of edges) { edge.on = on.has(edge.type); edge.row.hidden = !edge.on; }
    for (const node of nodes) { node.on = node === centre || edges.some((e) => e.on && (e.source === node || e.target === node)); node.row.hidden = !node.on; }
    lines.attr("display", (edge) => (edge.on ? null : "none"));
    boxes.attr("display", (node) => (node.on ? null : "none"));
  };
  checks.forEach((check) => check.addEventListener("change", () => { filter(); fit(); }));
  filter();
  fit();
  addEventListener("resize", fit);
})();
