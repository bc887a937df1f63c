"use strict";
// The figures of a page, except the map: one function per kind, which takes the id of the figure and its data.
const figures = (function () {
  const { byId, node, drawing, axes, clusterNumber, inCluster, legend, legendHeight, marks, padded, path, watch, say, scale, words } = chart;
  const NAMED_AT_MOST = 40, LETTERS = 18, LETTER = 8;

  function counts(id, data) {
    const drawn = drawing("fig-" + id, 240);
    const low = data.x[0] - 0.6, high = data.x[data.x.length - 1] + 0.6, top = Math.max(...data.y) * 1.05;
    const frame = { left: 0, top: 8, width: drawn.width, height: drawn.height - 8 };
    const to = axes(drawn.svg, frame, [low, high], [0, top], ["number of clusters", "probability"], { wholeX: true });
    const width = Math.min(72, Math.max(1, (to.x(1) - to.x(0)) * 0.8));
    data.x.forEach((k, at) => {
      const own = k === data.estimate ? "bar own" : "bar";
      drawn.svg.append(node("rect", { x: to.x(k) - width / 2, y: to.y(data.y[at]), width: width, height: to.y(0) - to.y(data.y[at]), class: own }));
    });
    const likely = data.x.map((k, at) => [data.y[at], k]).filter((pair) => pair[0] >= 0.01).map((pair) => pair[1] + ": " + pair[0].toFixed(2));
    drawn.figure.setAttribute("aria-label", "Posterior probabilities of the number of clusters: " + likely.slice(0, 30).join(", "));
    watch(drawn, (x) => {
      const at = data.x.findIndex((k) => Math.abs(to.x(k) - x) <= (to.x(1) - to.x(0)) / 2);
      if (at < 0) { return; }
      say(id + "-readout", data.x[at] + (data.x[at] === 1 ? " cluster" : " clusters") + ": probability " + data.y[at].toFixed(3));
    });
  }

  // Partitions as strips of coloured labels.
  function strips(id, data) {
    const rows = data.labels.length, drawn = drawing("fig-" + id, 50 * rows + 8);
    const total = data.edges[data.edges.length - 1], to = (edge) => edge / total * drawn.width;
    data.labels.forEach((labels, row) => {
      words(drawn.svg, 0, 50 * row + 16, data.names[row]);
      let start = 0;
      for (let at = 1; at <= labels.length; at += 1) {
        if (at < labels.length && labels[at] === labels[start]) { continue; }
        const x = to(data.edges[start]), k = labels[start];
        const fill = k < 0 ? "var(--line)" : data.colors[k % data.colors.length];
        drawn.svg.append(node("rect", { x: x, y: 50 * row + 23, width: to(data.edges[at]) - x, height: 25, fill: fill, "data-row": row, "data-cluster": k }));
        start = at;
      }
    });
    watch(drawn, (x, y) => {
      const row = Math.min(rows - 1, Math.max(0, Math.floor(y / 50))), position = x / drawn.width * total;
      let cell = data.edges.findIndex((edge) => edge > position) - 1;
      if (cell < 0) { cell = data.edges.length - 2; }
      say(id + "-readout", data.names[row].split(":")[0] + ": " + similarityMap.itemsAt(cell) + inCluster(data.labels[row][cell]));
    });
  }

  function panel(svg, frame, data, labels, names, ranges) {
    const to = axes(svg, frame, ranges[0], ranges[1], names);
    if (data.curve) {
      svg.append(node("path", { d: path(data.curve.x.map(to.x), data.curve.y.map(to.y)), class: "curve" }));
    }
    marks(svg, data.x.map(to.x), data.y.map(to.y), labels, data.colors, data.x.length > 500 ? 2.5 : 4);
    return to;
  }
  function points(id, data) {
    const figure = byId("fig-" + id);
    const count = data.panels.length, columns = figure.clientWidth < 560 ? 1 : Math.min(2, count), rows = Math.ceil(count / columns);
    const drawn = drawing("fig-" + id, 300 * rows + legendHeight(data.panels[0].labels, figure.clientWidth)), width = drawn.width / columns;
    legend(drawn.svg, data.panels[0].labels, data.colors, 300 * rows, drawn.width);
    const heights = data.curve ? data.curve.y.concat(data.y, 0) : data.y;
    const ranges = [padded(data.curve ? data.curve.x : data.x, 0.04), padded(heights, 0.06)];
    const scales = data.panels.map((shown, at) => {
      const left = width * (at % columns), top = 300 * Math.floor(at / columns);
      words(drawn.svg, left + 4, top + 16, shown.name, "start", { class: "panel" });
      return panel(drawn.svg, { left: left, top: top + 28, width: width, height: 266 }, data, shown.labels, data.axes, ranges);
    });
    watch(drawn, (x, y) => {
      const at = Math.min(count - 1, Math.floor(y / 300) * columns + Math.floor(x / width)), to = scales[at];
      let nearest = -1, best = 400;
      data.x.forEach((value, item) => {
        const far = (to.x(value) - x) ** 2 + (to.y(data.y[item]) - y) ** 2;
        if (far < best) { best = far; nearest = item; }
      });
      if (nearest < 0) { return; }
      const shown = data.panels[at];
      say(id + "-readout", shown.name.split(":")[0] + ": " + data.names[nearest] + inCluster(shown.labels[nearest]));
    });
  }

  // Lines over 0, 1, 2, ...; `kind` gives the class or the colour of each.
  function lines(svg, frame, series, names, kind, options) {
    const longest = Math.max(...series.map((values) => values.length));
    const range = options && options.fromZero ? [0, Math.max(...series.flat()) * 1.1] : padded(series.flat(), 0.06);
    const to = axes(svg, frame, [0, Math.max(1, longest - 1) * (options && options.step || 1)], range, names, { wholeX: true, wholeY: series.flat().every(Number.isInteger) });
    series.forEach((values, at) => {
      const xs = values.map((_, x) => to.x(x * (options && options.step || 1)));
      svg.append(node("path", Object.assign({ d: path(xs, values.map(to.y)) }, kind(at))));
    });
    return to;
  }
  function trace(id, data) {
    const drawn = drawing("fig-" + id, 240);
    const order = data.lines.map((_, run) => run).filter((run) => run !== data.best).concat(data.best);
    const series = order.map((run) => data.lines[run]), last = order.length - 1;
    const frame = { left: 0, top: 8, width: drawn.width, height: 232 };
    const to = lines(drawn.svg, frame, series, ["sweep", "expected loss"], (at) => ({ class: at === last ? "run best" : "run" }));
    const best = data.lines[data.best], end = best.length - 1; // a run of one sweep is only this dot
    drawn.svg.append(node("circle", { cx: to.x(end), cy: to.y(best[end]), r: 4, class: "end" }));
    watch(drawn, (x, y) => {
      let best = 900, found = null;
      series.forEach((values, at) => values.forEach((value, sweep) => {
        const far = (to.x(sweep) - x) ** 2 + (to.y(value) - y) ** 2;
        if (far < best) { best = far; found = "run " + clusterNumber(order[at]) + ", sweep " + sweep + ": " + value.toPrecision(8); }
      }));
      if (found) { say(id + "-readout", found); }
    });
  }
  function chains(id, data) {
    const figure = byId("fig-" + id);
    const narrow = figure.clientWidth < 560, rows = data.quantities.length * (narrow ? 2 : 1);
    const drawn = drawing("fig-" + id, 230 * rows), width = narrow ? drawn.width : drawn.width / 2;
    const kind = (at) => ({ class: "chain", style: "stroke: " + data.colors[at % data.colors.length], "stroke-dasharray": at < data.colors.length ? "none" : "4 2" });
    data.quantities.forEach((quantity, at) => {
      const top = 230 * at * (narrow ? 2 : 1) + 10;
      lines(drawn.svg, { left: 0, top: top, width: width, height: 215 }, quantity.traces, ["draw", quantity.name], kind, { step: data.step });
      const beside = { left: narrow ? 0 : width, top: top + (narrow ? 230 : 0), width: width, height: 215 };
      lines(drawn.svg, beside, quantity.ranks, ["rank (20 bins)", "share of draws"], kind, { fromZero: true });
    });
  }

  // The nodes and links of a small network.
  function network(id, data) {
    const side = Math.min(700, Math.max(260, byId("fig-" + id).clientWidth)), drawn = drawing("fig-" + id, side + legendHeight(data.labels, side) + 8);
    const [low, high] = padded([0, 1], 0.04), to = (value) => (value - low) / (high - low) * side;
    const xs = data.x.map(to), ys = data.y.map(to);
    const links = data.links.map(([i, j]) => path([xs[i], xs[j]], [ys[i], ys[j]])).join("");
    drawn.svg.append(node("path", { d: links, class: "link" }));
    marks(drawn.svg, xs, ys, data.labels, data.colors, 6);
    legend(drawn.svg, data.labels, data.colors, side + 4, side);
    if (data.names.length <= NAMED_AT_MOST) { data.names.forEach((name, at) => {
      const before = xs[at] + 8 + LETTER * name.length > drawn.width; // there is no room behind the mark
      words(drawn.svg, xs[at] + (before ? -8 : 8), ys[at] + 4, name, before ? "end" : "start", { class: "name" });
    }); }
    watch(drawn, (x, y) => {
      const far = xs.map((place, at) => (place - x) ** 2 + (ys[at] - y) ** 2), at = far.indexOf(Math.min(...far));
      if (far[at] < 400) { say(id + "-readout", data.names[at] + inCluster(data.labels[at])); }
    });
  }

  // A table of pairs as a picture, each value from 0 to 1.
  function pairs(id, data) {
    const count = data.names.length, bytes = atob(data.z), named = count <= NAMED_AT_MOST;
    const longest = Math.min(LETTERS, Math.max(...data.names.map((text) => text.length)));
    const left = named ? LETTER * longest + 10 : 0;
    const side = Math.min(Math.max(260, byId("fig-" + id).clientWidth) - left, Math.max(200, 26 * count), 560);
    const drawn = drawing("fig-" + id, side + 40);
    const image = { href: similarityMap.picture(count, bytes), x: left, y: 0, width: side, height: side, preserveAspectRatio: "none" };
    const cells = node("g", { class: "cells" });
    cells.append(node("image", image));
    drawn.svg.append(cells, node("rect", { x: left + 0.5, y: 0.5, width: side - 1, height: side - 1, class: "frame" }));
    if (named) {
      data.names.forEach((text, row) => {
        const shown = text.length > LETTERS ? text.slice(0, LETTERS - 1) + "…" : text;
        words(drawn.svg, left - 6, (row + 0.5) * side / count + 4, shown, "end");
      });
    }
    scale(drawn.svg, "scale-" + id, left, side + 12, Math.min(240, side - 20), ["0", "0.5", "1"]);
    watch(drawn, (x, y) => {
      const column = Math.floor((x - left) / side * count), row = Math.floor(y / side * count);
      if (column < 0 || row < 0 || column >= count || row >= count) { return; }
      say(id + "-readout", data.names[row] + " and " + data.names[column] + ": " + (bytes.charCodeAt(row * count + column) / 100).toFixed(2));
    });
  }
  const map = (id, data) => similarityMap.draw(data);

  return { counts, strips, points, trace, chains, network, pairs, map };
})();
