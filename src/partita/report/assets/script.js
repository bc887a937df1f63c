"use strict";
(function () {
  const data = JSON.parse(document.getElementById("figures").textContent);
  const byId = (id) => document.getElementById(id);
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const SYMBOLS = ["circle", "triangle-up", "square", "diamond", "triangle-down", "cross", "x", "star"];
  // Named one by one, so that no button of the library leads out of the page.
  const BUTTONS = [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]];
  const SETTINGS = { responsive: true, displaylogo: false, displayModeBar: true, modeBarButtons: BUTTONS };
  const STILL = { responsive: true, displayModeBar: false };
  const SHAPES_AT_MOST = 300;

  function layout(extra) {
    const base = {
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "closest",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: color("quiet"), activecolor: color("accent") },
      font: { color: color("ink"), family: "system-ui, sans-serif", size: 13 },
      margin: { l: 48, r: 12, t: 12, b: 42 },
    };
    return Object.assign(base, extra);
  }
  const axis = (extra) => Object.assign({ gridcolor: color("line"), zeroline: false, linecolor: color("line"), automargin: true }, extra);
  // Readouts are set as text, so that a name never turns into markup.
  const say = (id, text) => { byId(id).textContent = text; };

  function drawCounts() {
    const counts = data.counts;
    const fill = counts.x.map((k) => (k === counts.estimate ? color("mark") : color("accent")));
    const bars = { type: "bar", x: counts.x, y: counts.y, marker: { color: fill }, hoverinfo: "none" };
    const look = layout({
      xaxis: axis({ title: { text: "number of clusters" }, tickformat: "d", fixedrange: true, dtick: counts.x.length < 20 ? 1 : undefined }),
      yaxis: axis({ title: { text: "probability" }, fixedrange: true }),
    });
    Plotly.newPlot("fig-counts", [bars], look, STILL);
    byId("fig-counts").on("plotly_hover", (event) => {
      const point = event.points[0];
      say("counts-readout", point.x + (point.x === 1 ? " cluster" : " clusters") + ": probability " + point.y.toFixed(3));
    });
  }

  const total = data.map ? data.map.edges[data.map.edges.length - 1] : 0; // no map: clusters are too small for its cells
  function itemsAt(cell) {
    if (data.map.names) { return data.map.names[cell]; }
    return "items " + (data.map.edges[cell] + 1) + " to " + data.map.edges[cell + 1] + " of the order";
  }
  function clusterAt(position) {
    const found = data.map.clusters.find((c) => position >= c[1] && position < c[2]);
    return found ? "cluster " + found[0] : "small clusters";
  }
  // The cell that holds a position along the map.
  function cellAt(position) {
    const edges = data.map.edges;
    let low = 0, high = edges.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (edges[middle] <= position) { low = middle; } else { high = middle - 1; }
    }
    return low;
  }

  function drawMap() {
    if (!data.map) { return; }
    const edges = data.map.edges;
    const map = {
      type: "heatmap", z: data.map.z, x: edges, y: edges, zmin: 0, zmax: 100, hoverinfo: "none",
      colorscale: [[0, color("map-0")], [0.5, color("map-1")], [1, color("map-2")]],
      colorbar: { ticksuffix: "%", thickness: 12, len: 0.6, outlinewidth: 0, tickfont: { color: color("ink") } },
    };
    const boxes = data.map.clusters.length > SHAPES_AT_MOST ? [] : data.map.clusters.map(([, start, stop]) => (
      { type: "rect", x0: start, x1: stop, y0: start, y1: stop, line: { color: color("mark"), width: 1.3 } }));
    const bare = { showticklabels: false, showgrid: false, ticks: "", constrain: "domain" };
    const look = layout({
      margin: { l: 8, r: 8, t: 36, b: 8 }, shapes: boxes, dragmode: "zoom",
      xaxis: axis(Object.assign({ range: [0, total] }, bare)),
      yaxis: axis(Object.assign({ range: [total, 0], scaleanchor: "x" }, bare)),
    });
    Plotly.newPlot("fig-map", [map], look, SETTINGS);
    byId("fig-map").on("plotly_hover", (event) => {
      const point = event.points[0];
      const row = cellAt(point.y), column = cellAt(point.x);
      say("map-readout", itemsAt(row) + " (" + clusterAt(edges[row]) + ") and " + itemsAt(column) +
        " (" + clusterAt(edges[column]) + "): " + (point.z < 0 ? "no draw labels both" : point.z + "%"));
    });
  }
  function zoomTo(start, stop) {
    Plotly.relayout("fig-map", { "xaxis.range": [start, stop], "yaxis.range": [stop, start] });
  }
  function bindZoom() {
    if (!data.map) { return; }
    byId("zoom").addEventListener("change", (event) => {
      const [start, stop] = event.target.value ? event.target.value.split(",").map(Number) : [0, total];
      zoomTo(start, stop);
    });
    byId("zoom-reset").addEventListener("click", () => { byId("zoom").value = ""; zoomTo(0, total); });
    byId("fig-map").addEventListener("keydown", (event) => {
      const [left, right] = byId("fig-map").layout.xaxis.range;
      const [bottom, top] = byId("fig-map").layout.yaxis.range;
      const width = right - left, step = width / 5;
      const moves = {
        ArrowLeft: [-step, 0, 0], ArrowRight: [step, 0, 0], ArrowUp: [0, -step, 0], ArrowDown: [0, step, 0],
        "+": [0, 0, width / 4], "=": [0, 0, width / 4], "-": [0, 0, -width / 2],
      };
      if (event.key === "0") { zoomTo(0, total); }
      if (!(event.key in moves)) { return; }
      event.preventDefault();
      const [dx, dy, shrink] = moves[event.key];
      Plotly.relayout("fig-map", {
        "xaxis.range": [left + dx + shrink, right + dx - shrink],
        "yaxis.range": [bottom + dy - shrink, top + dy + shrink],
      });
    });
  }

  const inCluster = (k) => (k === undefined || k < 0 ? " has no label" : " is in cluster " + k);
  function drawStrips() {
    const strips = data.strips;
    if (!strips) { return; }
    const rows = strips.labels.length, gap = strips.edges.slice(1).map(() => null);
    const z = [], y = [0];
    strips.labels.forEach((labels, row) => {
      z.push(gap, labels.map((k) => (k < 0 ? null : k % strips.colors.length)));
      y.push(row + 0.45, row + 1);
    });
    const steps = strips.colors.flatMap((c, k) => [[k / strips.colors.length, c], [(k + 1) / strips.colors.length, c]]);
    const heat = {
      type: "heatmap", z: z, x: strips.edges, y: y, colorscale: steps, zmin: -0.5, zmax: strips.colors.length - 0.5,
      showscale: false, hoverinfo: "none", hoverongaps: false,
    };
    const names = strips.names.map((name, row) => (
      { text: name, x: 0, y: row + 0.22, xref: "paper", xanchor: "left", yanchor: "middle", showarrow: false }));
    const bare = { showticklabels: false, showgrid: false, ticks: "", fixedrange: true };
    const look = layout({
      margin: { l: 4, r: 4, t: 4, b: 4 }, annotations: names,
      xaxis: axis(bare), yaxis: axis(Object.assign({ range: [rows, 0] }, bare)),
    });
    Plotly.newPlot("fig-strips", [heat], look, STILL);
    byId("fig-strips").on("plotly_hover", (event) => {
      const point = event.points[0], row = Math.floor(point.y), cell = cellAt(point.x);
      say("strips-readout", strips.names[row].split(":")[0] + ": " + itemsAt(cell) + inCluster(strips.labels[row][cell]));
    });
  }

  let columnsDrawn = 0;
  function columnsFitting() {
    const width = byId("fig-points").clientWidth;
    return Math.max(1, Math.min(data.points.panels.length, width < 560 ? 1 : 2));
  }
  function drawPoints() {
    const points = data.points;
    if (!points) { return; }
    const columns = columnsFitting(), rows = Math.ceil(points.panels.length / columns);
    columnsDrawn = columns;
    byId("fig-points").style.height = 17 * rows + 3 + "rem";
    const look = layout({ annotations: [], margin: { l: 48, r: 8, t: 56, b: 34 } }), traces = [];
    points.panels.forEach((panel, index) => {
      const suffix = index ? String(index + 1) : "", row = Math.floor(index / columns), column = index % columns;
      const gap = 68 / (272 * rows), tall = (1 - gap * (rows - 1)) / rows, high = 1 - row * (tall + gap);
      const left = column / columns + (column ? 0.04 : 0), right = (column + 1) / columns - (column < columns - 1 ? 0.04 : 0);
      look["xaxis" + suffix] = axis({ domain: [left, right], anchor: "y" + suffix, matches: index ? "x" : undefined, title: { text: index + columns < points.panels.length ? "" : points.axes[0] } });
      look["yaxis" + suffix] = axis({ domain: [Math.max(0, high - tall), high], anchor: "x" + suffix, matches: index ? "y" : undefined, title: { text: column ? "" : points.axes[1] } });
      look.annotations.push({ text: panel.name, x: left, y: high, xref: "paper", yref: "paper", xanchor: "left", yanchor: "bottom", showarrow: false });
      if (points.curve) {
        traces.push({ x: points.curve.x, y: points.curve.y, mode: "lines", line: { color: color("line"), width: 2 }, hoverinfo: "skip", xaxis: "x" + suffix, yaxis: "y" + suffix });
      }
      traces.push({
        x: points.x, y: points.y, mode: "markers", type: "scatter", hoverinfo: "none", xaxis: "x" + suffix, yaxis: "y" + suffix, meta: index,
        marker: {
          size: points.x.length > 500 ? 5 : 8, line: { width: 0.5, color: color("card") },
          color: panel.labels.map((k) => (k < 0 ? color("line") : points.colors[k % points.colors.length])),
          symbol: panel.labels.map((k) => k < 0 ? "circle-open" : SYMBOLS[Math.floor(k / points.colors.length) % SYMBOLS.length]),
        },
      });
    });
    Plotly.newPlot("fig-points", traces, look, SETTINGS);
    byId("fig-points").on("plotly_hover", (event) => {
      const point = event.points[0], panel = points.panels[point.data.meta];
      say("points-readout", panel.name.split(":")[0] + ": " + points.names[point.pointNumber] + inCluster(panel.labels[point.pointNumber]));
    });
  }

  function drawTrace() {
    if (!data.trace) { return; }
    const order = data.trace.lines.map((_, run) => run).filter((run) => run !== data.trace.best).concat(data.trace.best);
    const traces = order.map((run) => {
      const best = run === data.trace.best;
      return {
        y: data.trace.lines[run], mode: "lines+markers", hoverinfo: "none", meta: run,
        line: { color: color(best ? "mark" : "line"), width: best ? 2.5 : 1.2 }, marker: { size: best ? 6 : 4 },
      };
    });
    const look = layout({
      xaxis: axis({ title: { text: "sweep" }, tickformat: "d", fixedrange: true, dtick: Math.max(...data.trace.lines.map((l) => l.length)) < 12 ? 1 : undefined }),
      yaxis: axis({ title: { text: "expected loss" }, fixedrange: true }),
    });
    Plotly.newPlot("fig-trace", traces, look, STILL);
    byId("fig-trace").on("plotly_hover", (event) => {
      const point = event.points[0];
      say("trace-readout", "run " + point.data.meta + ", sweep " + point.x + ": " + point.y.toPrecision(8));
    });
  }

  function drawAll() { drawCounts(); drawMap(); drawStrips(); drawPoints(); drawTrace(); }

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = theme() === "dark" ? "light" : "dark";
    drawAll();
  });
  dark.addEventListener("change", drawAll);
  let before = null;
  addEventListener("beforeprint", () => { before = root.dataset.theme || ""; root.dataset.theme = "light"; drawAll(); });
  addEventListener("afterprint", () => {
    if (before) { root.dataset.theme = before; } else { delete root.dataset.theme; }
    drawAll();
  });
  addEventListener("resize", () => { if (data.points && columnsFitting() !== columnsDrawn) { drawPoints(); } });

  bindZoom();
  drawAll();
})();
