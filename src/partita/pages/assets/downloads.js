"use strict";
// Tables and labels as csv, figures as SVG and PNG: made in the page, nothing is sent anywhere.
const downloads = (function () {
  const PNG_SCALE = 2;
  const STYLED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "font-weight", "vector-effect", "image-rendering"];

  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  const quoted = (cell) => (/[",\r\n]/.test(cell) ? '"' + cell.replaceAll('"', '""') + '"' : cell);
  const csv = (rows) => rows.map((row) => row.map((cell) => quoted(String(cell))).join(",")).join("\n") + "\n";
  const saveCsv = (rows, name) => save(new Blob([csv(rows)], { type: "text/csv;charset=utf-8" }), name + ".csv");

  // All rows of a table, also those that a search hides, with numbers in full.
  function tableRows(table) {
    const header = Array.from(table.tHead.rows[0].cells).map((cell) => cell.textContent.trim());
    const rows = Array.from(table.tBodies[0].rows).map((row) => Array.from(row.cells).map((cell) => cell.dataset.v ?? cell.textContent));
    return [header, ...rows];
  }
  function labelRows(labels) {
    const rows = labels.cluster.map((k, at) => [labels.names ? labels.names[at] : at + chart.first, chart.clusterNumber(k)]);
    if (!labels.certainty) { return [["item", "cluster"], ...rows]; }
    return [["item", "cluster", "certainty"], ...rows.map((row, at) => [...row, labels.certainty[at] ?? ""])];
  }

  // The drawing with its colours written out, since the file has no style sheet.
  function standalone(svg) {
    const copy = svg.cloneNode(true), size = svg.viewBox.baseVal;
    const originals = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
    originals.forEach((original, at) => {
      const look = getComputedStyle(original);
      STYLED.forEach((name) => { if (look.getPropertyValue(name)) { copies[at].style.setProperty(name, look.getPropertyValue(name)); } });
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", size.width);
    copy.setAttribute("height", size.height);
    const back = chart.node("rect", { width: "100%", height: "100%", fill: chart.variable("card") });
    copy.insertBefore(back, copy.firstChild);
    return new XMLSerializer().serializeToString(copy);
  }
  function savePng(svg, name) {
    const image = new Image(), size = svg.viewBox.baseVal;
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = PNG_SCALE * size.width;
      canvas.height = PNG_SCALE * size.height;
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => save(blob, name + ".png"));
    };
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(standalone(svg));
  }

  function bind() {
    document.querySelectorAll("button[data-csv]").forEach((button) => button.addEventListener("click", () => {
      saveCsv(tableRows(document.getElementById(button.dataset.csv)), button.dataset.csv);
    }));
    document.querySelectorAll("button[data-figure]").forEach((button) => button.addEventListener("click", () => {
      const svg = document.querySelector("#" + button.dataset.figure + " svg"), name = button.dataset.figure.replace("fig-", "");
      if (button.dataset.as === "png") { savePng(svg, name); return; }
      save(new Blob([standalone(svg)], { type: "image/svg+xml" }), name + ".svg");
    }));
    const labels = document.getElementById("labels-csv");
    if (labels) {
      labels.addEventListener("click", () => saveCsv(labelRows(JSON.parse(document.getElementById("page").textContent).labels), "labels"));
    }
  }
  bind();
  return { csv, tableRows, labelRows, standalone };
})();
