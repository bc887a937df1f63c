"use strict";
(function () {
  const { byId, node, drawing, inCluster, marks, padded, path, watch, say } = chart;
  const page = JSON.parse(byId("page").textContent);

  // The nodes and links of a small network.
  function network(data) {
    if (!data || !byId("fig-drawing")) { return; }
    const side = Math.min(700, Math.max(260, byId("fig-drawing").clientWidth)), drawn = drawing("fig-drawing", side);
    const [low, high] = padded([0, 1], 0.04), to = (value) => (value - low) / (high - low) * side;
    const xs = data.x.map(to), ys = data.y.map(to);
    const links = data.links.map(([i, j]) => path([xs[i], xs[j]], [ys[i], ys[j]])).join("");
    drawn.svg.append(node("path", { d: links, class: "link" }));
    marks(drawn.svg, xs, ys, data.labels, data.colors, 6);
    watch(drawn, (x, y) => {
      const far = xs.map((place, at) => (place - x) ** 2 + (ys[at] - y) ** 2), at = far.indexOf(Math.min(...far));
      if (far[at] < 400) { say("drawing-readout", data.names[at] + inCluster(data.labels[at])); }
    });
  }
  const draw = () => { similarityMap.draw(page.map); network(page.drawing); };
  draw();
  similarityMap.bind();
  document.addEventListener("theme", draw);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
})();
