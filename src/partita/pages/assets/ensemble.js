"use strict";
// The page of a consensus: the map of items, and tables of pairs of base clusterings as pictures.
(function () {
  const { byId, node, drawing, watch, say, words, scale } = chart;
  const data = JSON.parse(byId("page").textContent).figures;
  const NAMED_AT_MOST = 40, LETTERS = 18, LETTER = 7;

  function pairs(name, given) {
    const count = given.names.length, bytes = atob(given.z), named = count <= NAMED_AT_MOST;
    const longest = Math.min(LETTERS, Math.max(...given.names.map((text) => text.length)));
    const left = named ? LETTER * longest + 10 : 0;
    const figure = byId("fig-" + name);
    const side = Math.min(Math.max(260, figure.clientWidth) - left, Math.max(200, 26 * count), 560);
    const drawn = drawing("fig-" + name, side + 34);
    const image = { href: similarityMap.picture(count, bytes), x: left, y: 0, width: side, height: side, preserveAspectRatio: "none" };
    const cells = node("g", { class: "cells" });
    cells.append(node("image", image));
    drawn.svg.append(cells, node("rect", { x: left + 0.5, y: 0.5, width: side - 1, height: side - 1, class: "frame" }));
    if (named) {
      given.names.forEach((text, row) => {
        const shown = text.length > LETTERS ? text.slice(0, LETTERS - 1) + "…" : text;
        words(drawn.svg, left - 6, (row + 0.5) * side / count + 4, shown, "end");
      });
    }
    scale(drawn.svg, "scale-" + name, left, side + 12, Math.min(240, side - 60), "0 to 1");
    watch(drawn, (x, y) => {
      const column = Math.floor((x - left) / side * count), row = Math.floor(y / side * count);
      if (column < 0 || row < 0 || column >= count || row >= count) { return; }
      say(name + "-readout", given.names[row] + " and " + given.names[column] + ": " + (bytes.charCodeAt(row * count + column) / 100).toFixed(2));
    });
  }
  function drawAll() {
    similarityMap.draw(data.map);
    pairs("agreement", data.agreement);
    pairs("dependence", data.dependence);
  }
  drawAll();
  similarityMap.bind();
  document.addEventListener("theme", drawAll);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawAll(); } });
})();
