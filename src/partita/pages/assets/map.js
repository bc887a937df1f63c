"use strict";
// The similarity map: an image in an SVG, with zoom by drag, choice and key.
const similarityMap = (function () {
  const { byId, node, drawing, watch, say, scale, variable } = chart;
  const LEGEND = 40, BOXES_AT_MOST = 300;
  let data = null, bytes = "", drawn = null, view = null, inner = null;

  function rgb(color) {
    const pair = (at) => parseInt(color.slice(at, at + 2), 16);
    return [pair(1), pair(3), pair(5)];
  }
  function shade(percent, stops) {
    if (percent < 0) { return rgb(variable("line")); }
    const at = Math.min(1, Math.floor(percent / 50)), share = percent / 50 - at;
    return stops[at].map((from, c) => Math.round(from + share * (stops[at + 1][c] - from)));
  }
  // The matrix as a picture, one pixel per cell.
  function picture(bins, bytes) {
    const canvas = document.createElement("canvas");
    const stops = ["map-0", "map-1", "map-2"].map((name) => rgb(variable(name)));
    const colors = Array.from({ length: 101 }, (_, percent) => shade(percent, stops)), unknown = shade(-1, stops);
    canvas.width = canvas.height = bins;
    const context = canvas.getContext("2d"), image = context.createImageData(bins, bins);
    for (let cell = 0; cell < bins * bins; cell += 1) {
      const color = colors[bytes.charCodeAt(cell)] || unknown;
      image.data.set([color[0], color[1], color[2], 255], 4 * cell);
    }
    context.putImageData(image, 0, 0);
    return canvas.toDataURL("image/png");
  }

  const total = () => data.edges[data.edges.length - 1];
  function cell(position) {
    let low = 0, high = data.edges.length - 2;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (data.edges[middle] <= position) { low = middle; } else { high = middle - 1; }
    }
    return low;
  }
  function itemsAt(at) {
    if (!data) { return "items"; }
    if (data.names) { return data.names[at]; }
    return (data.unit || "items") + " " + (data.edges[at] + 1) + " to " + data.edges[at + 1] + " of the order";
  }
  function clusterAt(position) {
    const found = data.clusters.find((c) => position >= c[1] && position < c[2]);
    return found ? "cluster " + chart.clusterNumber(found[0]) : "small clusters";
  }
  function tell(x, y) {
    const side = drawn.width, column = view.x + x / side * view.size, row = view.y + y / side * view.size;
    if (y > side || column >= total() || row >= total() || column < 0 || row < 0) { return; }
    const [a, b] = [cell(row), cell(column)], value = bytes.charCodeAt(a * data.bins + b);
    say("map-readout", itemsAt(a) + " (" + clusterAt(data.edges[a]) + ") and " + itemsAt(b) + " (" + clusterAt(data.edges[b]) + "): " +
      (data.values ? data.values[value] : value > 100 ? "no draw labels both" : value + "%"));
  }

  // Shows the items from x and y on; a view never leaves the map.
  function show(x, y, size) {
    const kept = Math.min(total(), Math.max(size, Math.min(3, total())));
    const inside = (at) => Math.min(total() - kept, Math.max(0, at));
    view = { x: inside(x), y: inside(y), size: kept };
    inner.setAttribute("viewBox", `${view.x} ${view.y} ${view.size} ${view.size}`);
    drawn.figure.dataset.view = [view.x, view.x + view.size].join(",");
  }
  const whole = () => show(0, 0, total());
  const closer = (factor) => show(view.x + view.size * (1 - factor) / 2, view.y + view.size * (1 - factor) / 2, view.size * factor);

  function draw(given) {
    data = given;
    if (!data || !byId("fig-map")) { return; }
    bytes = atob(data.z);
    const side = Math.min(byId("fig-map").clientWidth, 704, Math.max(280, 0.85 * innerHeight));
    byId("fig-map").style.maxWidth = side + "px";
    drawn = drawing("fig-map", side + LEGEND);
    inner = node("svg", { x: 0, y: 0, width: drawn.width, height: side, preserveAspectRatio: "none", class: "cells" });
    inner.append(node("image", { href: picture(data.bins, bytes), x: 0, y: 0, width: total(), height: total(), preserveAspectRatio: "none" }));
    if (data.clusters.length <= BOXES_AT_MOST) {
      data.clusters.forEach(([, start, stop]) => inner.append(node("rect", { x: start, y: start, width: stop - start, height: stop - start, class: "box" })));
    }
    drawn.svg.append(inner, node("rect", { x: 0.5, y: 0.5, width: drawn.width - 1, height: side - 1, class: "frame" }));
    scale(drawn.svg, "map-scale", 0, side + 12, Math.min(300, side - 2), data.legend || ["0%", "50%", "100%"], data.steps);
    if (view) { show(view.x, view.y, view.size); } else { whole(); }
    watch(drawn, tell);
    bindDrag();
  }

  // A mouse or pen drags a square to zoom to; a finger scrolls the page, and has the buttons.
  function bindDrag() {
    let from = null, square = null;
    const place = (event) => {
      const box = drawn.svg.getBoundingClientRect();
      return [(event.clientX - box.left) * drawn.width / box.width, (event.clientY - box.top) * drawn.width / box.width];
    };
    const corner = (to) => {
      const side = Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1]));
      return [to[0] < from[0] ? from[0] - side : from[0], to[1] < from[1] ? from[1] - side : from[1], side];
    };
    drawn.svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button) { return; }
      from = place(event);
      square = node("rect", { class: "selection", width: 0, height: 0 });
      drawn.svg.append(square);
      drawn.svg.setPointerCapture(event.pointerId);
      event.preventDefault();
      drawn.figure.focus();
    });
    drawn.svg.addEventListener("pointermove", (event) => {
      if (!from) { return; }
      const [x, y, side] = corner(place(event));
      Object.entries({ x: x, y: y, width: side, height: side }).forEach(([key, value]) => square.setAttribute(key, value));
    });
    drawn.svg.addEventListener("pointerup", (event) => {
      if (!from) { return; }
      const [x, y, side] = corner(place(event)), unit = view.size / drawn.width;
      square.remove();
      from = null;
      if (side > 8) { show(view.x + x * unit, view.y + y * unit, side * unit); }
    });
    drawn.svg.addEventListener("dblclick", whole);
  }
  function bind() {
    if (!data || !byId("fig-map")) { return; }
    byId("zoom").addEventListener("change", (event) => {
      if (!event.target.value) { whole(); return; }
      const [start, stop] = event.target.value.split(",").map(Number);
      show(start, start, stop - start);
    });
    byId("zoom-reset").addEventListener("click", () => { byId("zoom").value = ""; whole(); });
    byId("zoom-in").addEventListener("click", () => closer(0.5));
    byId("zoom-out").addEventListener("click", () => closer(2));
    byId("fig-map").addEventListener("keydown", (event) => {
      const step = view.size / 5, moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
      if (event.key in moves) { show(view.x + moves[event.key][0], view.y + moves[event.key][1], view.size); }
      else if (event.key === "+" || event.key === "=") { closer(0.5); }
      else if (event.key === "-") { closer(2); }
      else if (event.key === "0") { whole(); }
      else { return; }
      event.preventDefault();
    });
  }
  return { draw, bind, itemsAt, picture };
})();
