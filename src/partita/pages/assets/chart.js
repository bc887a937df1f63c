"use strict";
// Drawing in SVG: nodes, scales, axes and what all figures share. Colours are the variables of style.css, so that a
// figure follows the theme and the printer without being drawn again.
const chart = (function () {
  const byId = (id) => document.getElementById(id);
  const FONT = 7; // pixels that a character of a label needs at most

  function node(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes || {}).forEach(([key, value]) => made.setAttribute(key, value));
    if (text !== undefined) { made.textContent = text; } // text only: a name never turns into markup
    return made;
  }

  // An empty drawing in the figure `id`, as wide as the figure and `height` pixels high; null where there is no figure.
  function drawing(id, height) {
    const figure = byId(id);
    if (!figure) { return null; }
    const width = Math.max(260, figure.clientWidth);
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, width: width, height: height });
    figure.replaceChildren(svg);
    return { figure: figure, svg: svg, width: width, height: height };
  }

  const sup = (n) => String(n).replace(/[-0-9]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

  // Round values between low and high, their labels, and the power of ten that they leave out.
  function ticks(low, high, count, whole) {
    const span = high - low || Math.abs(high) || 1;
    const power = 10 ** Math.floor(Math.log10(span / count));
    const steps = [0.5, 1, 2, 5, 10].map((m) => m * power).map((s) => (whole ? Math.max(1, Math.round(s)) : s));
    const multiples = (s) => {
      const found = [];
      for (let k = Math.ceil(low / s - 1e-9); k * s <= high + 1e-9 * span; k += 1) { found.push(k * s || 0); } // no minus zero
      return found;
    };
    const at = steps.findIndex((s) => span / s <= count), enough = multiples(steps[at]).length > 2;
    const step = enough || at < 1 ? steps[at] : steps[at - 1], values = multiples(step); // one or two ticks are no scale
    const largest = Math.max(...values.map(Math.abs), 0);
    const exponent = largest > 0 && (largest < 1e-3 || largest >= 1e7) ? Math.floor(Math.log10(largest)) : 0;
    const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(step / 10 ** exponent) + 1e-9)));
    const label = (value) => (value / 10 ** exponent).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return { values: values, labels: values.map(label), unit: exponent ? ` (× 10${sup(exponent)})` : "" };
  }

  // A text that is too long for its place ends in an ellipsis; pointing at it shows all of it.
  const fitted = (text, pixels) => (text.length * FONT <= pixels ? text : text.slice(0, Math.max(1, Math.floor(pixels / FONT) - 1)) + "…");
  function title(svg, x, y, text, unit, pixels, extra) {
    const made = node("text", Object.assign({ x: x, y: y, "text-anchor": "middle", class: "title" }, extra), fitted(text, pixels - FONT * unit.length) + unit);
    made.append(node("title", {}, text));
    svg.append(made);
  }
  function line(svg, x1, y1, x2, y2, kind) { svg.append(node("line", { x1, y1, x2, y2, class: kind })); }
  function words(svg, x, y, text, anchor, extra) {
    svg.append(node("text", Object.assign({ x: x, y: y, "text-anchor": anchor || "start" }, extra), text));
  }

  // Axes around `frame` for the ranges x and y ([low, high]); returns functions from values to pixels.
  function axes(svg, frame, x, y, names, options) {
    const wanted = Object.assign({ wholeX: false, wholeY: false }, options);
    const down = ticks(y[0], y[1], Math.max(2, Math.floor(frame.height / 45)), wanted.wholeY);
    const left = 24 + FONT * Math.max(...down.labels.map((text) => text.length), 1);
    const inner = { left: frame.left + left, top: frame.top, width: frame.width - left - 14, height: frame.height - 42 };
    const across = ticks(x[0], x[1], Math.max(2, Math.floor(inner.width / 70)), wanted.wholeX);
    const toX = (value) => inner.left + (value - x[0]) / (x[1] - x[0] || 1) * inner.width;
    const toY = (value) => inner.top + inner.height - (value - y[0]) / (y[1] - y[0] || 1) * inner.height;
    down.values.forEach((value, at) => {
      line(svg, inner.left, toY(value), inner.left + inner.width, toY(value), "grid");
      words(svg, inner.left - 6, toY(value) + 4, down.labels[at], "end");
    });
    line(svg, inner.left, inner.top + inner.height, inner.left + inner.width, inner.top + inner.height, "base");
    across.values.forEach((value, at) => {
      line(svg, toX(value), inner.top + inner.height, toX(value), inner.top + inner.height + 4, "base");
      words(svg, toX(value), inner.top + inner.height + 17, across.labels[at], "middle");
    });
    title(svg, inner.left + inner.width / 2, inner.top + inner.height + 36, names[0], across.unit, inner.width);
    const middle = inner.top + inner.height / 2, edge = frame.left + 11;
    title(svg, edge, middle, names[1], down.unit, inner.height, { transform: `rotate(-90 ${edge} ${middle})` });
    return { x: toX, y: toY, inner: inner };
  }

  // A range with a margin, so that no mark lies on the frame.
  function padded(values, share) {
    let low = Infinity, high = -Infinity;
    values.forEach((value) => { low = Math.min(low, value); high = Math.max(high, value); });
    const margin = (high - low || Math.abs(high) || 1) * share;
    return [low - margin, high + margin];
  }

  const path = (xs, ys) => xs.map((x, at) => (at ? "L" : "M") + x.toFixed(2) + " " + ys[at].toFixed(2)).join("");

  // Marks of equal area around (x, y); clusters beyond the colours also differ by shape.
  const SHAPES = [
    (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
    (x, y, r) => `M${x} ${y - 1.2 * r}L${x + 1.1 * r} ${y + 0.8 * r}L${x - 1.1 * r} ${y + 0.8 * r}z`,
    (x, y, r) => `M${x - 0.9 * r} ${y - 0.9 * r}h${1.8 * r}v${1.8 * r}h${-1.8 * r}z`,
    (x, y, r) => `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.3 * r} ${y}z`,
    (x, y, r) => `M${x} ${y + 1.2 * r}L${x + 1.1 * r} ${y - 0.8 * r}L${x - 1.1 * r} ${y - 0.8 * r}z`,
    (x, y, r) => `M${x - 0.4 * r} ${y - 1.2 * r}h${0.8 * r}v${0.8 * r}h${0.8 * r}v${0.8 * r}h${-0.8 * r}v${0.8 * r}h${-0.8 * r}v${-0.8 * r}h${-0.8 * r}v${-0.8 * r}h${0.8 * r}z`,
  ];
  const REPEAT = 7; // colours before the next shape, as in the figures for print
  // One path per cluster; clusters below 0 are outlines.
  function marks(svg, xs, ys, labels, colors, radius) {
    const paths = new Map();
    labels.forEach((k, at) => {
      const shape = SHAPES[k < 0 ? 0 : Math.floor(k / REPEAT) % SHAPES.length];
      paths.set(k, (paths.get(k) || "") + shape(Number(xs[at].toFixed(1)), Number(ys[at].toFixed(1)), radius));
    });
    paths.forEach((d, k) => {
      const fill = k < 0 ? "none" : colors[k % colors.length];
      svg.append(node("path", { d: d, fill: fill, class: k < 0 ? "mark none" : "mark", "data-cluster": k }));
    });
  }

  // A mark and a number for each cluster, in rows below `y`; returns the height. None for many clusters.
  const LEGEND_AT_MOST = 24, LEGEND_WIDTH = 92;
  function legendHeight(labels, width) {
    const count = Math.max(...labels) + 1;
    return count > LEGEND_AT_MOST ? 0 : 22 * Math.ceil(count / Math.max(1, Math.floor(width / LEGEND_WIDTH)));
  }
  function legend(svg, labels, colors, y, width) {
    if (!legendHeight(labels, width)) { return; }
    const inRow = Math.max(1, Math.floor(width / LEGEND_WIDTH));
    for (let k = 0; k <= Math.max(...labels); k += 1) {
      const x = 8 + (k % inRow) * LEGEND_WIDTH, top = y + 14 + 22 * Math.floor(k / inRow);
      marks(svg, [x], [top - 4], [k], colors, 5);
      words(svg, x + 10, top, "cluster " + clusterNumber(k));
    }
  }

  // Calls `tell` with the place in the drawing, wherever a pointer moves or touches.
  function watch(drawn, tell) {
    const place = (event) => {
      const box = drawn.svg.getBoundingClientRect(), scale = drawn.width / box.width;
      tell((event.clientX - box.left) * scale, (event.clientY - box.top) * scale, event);
    };
    drawn.svg.addEventListener("pointermove", place);
    drawn.svg.addEventListener("pointerdown", place);
  }
  const say = (id, text) => { if (byId(id)) { byId(id).textContent = text; } };
  const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  // The colours of the map from 0 to its largest value under a drawing, with ticks; `steps`: only the two ends.
  function scale(svg, id, x, y, width, ticks, steps) {
    const defs = node("defs"), gradient = node("linearGradient", { id: id });
    const stops = steps ? [["map-0", 0.5], ["map-2", 0.5]] : [["map-0", 0], ["map-1", 0.5], ["map-2", 1]];
    stops.forEach(([name, at]) => gradient.append(node("stop", { offset: at, "stop-color": variable(name) })));
    defs.append(gradient);
    svg.append(defs, node("rect", { x: x + 0.5, y: y + 0.5, width: width, height: 10, style: `fill: url(#${id})`, class: "frame" }));
    const last = Math.max(1, ticks.length - 1);
    ticks.forEach((text, at) => words(svg, x + width * at / last, y + 25, text, at === 0 ? "start" : at === last ? "end" : "middle"));
  }

  // Clusters and items without names are kept from 0 and shown from `first`.
  const first = JSON.parse(byId("page").textContent).first || 0;
  const clusterNumber = (k) => (k < 0 ? k : k + first);

  const inCluster = (k) => (k === undefined || k < 0 ? " has no label" : " is in cluster " + clusterNumber(k));

  return { first, clusterNumber, inCluster, byId, node, drawing, axes, legend, legendHeight, marks, padded, path, watch, say, scale, variable, words };
})();
