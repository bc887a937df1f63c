"use strict";
(function () {
  const FOUND_AT_MOST = 20;
  const page = JSON.parse(document.getElementById("page").textContent);

  function sortBy(table, column, header) {
    const ascending = header.getAttribute("aria-sort") !== "ascending", body = table.tBodies[0];
    const value = (row) => {
      const cell = row.cells[column];
      return cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v);
    };
    const compare = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true }));
    const rows = Array.from(body.rows).map((row) => [value(row), row]);
    rows.sort((a, b) => (ascending ? 1 : -1) * compare(a[0], b[0]));
    body.append(...rows.map((pair) => pair[1]));
    table.querySelectorAll("th").forEach((th) => th.removeAttribute("aria-sort"));
    header.setAttribute("aria-sort", ascending ? "ascending" : "descending");
  }

  // Items that match but are not in the table, which lists only some of them.
  function elsewhere(wanted, listed) {
    const labels = page.labels;
    if (!labels || labels.cluster.length === listed.size) { return ""; }
    const name = (at) => (labels.names ? labels.names[at] : String(at + chart.first)), found = [];
    for (let at = 0; at < labels.cluster.length && found.length <= FOUND_AT_MOST; at += 1) {
      if (name(at).toLowerCase().includes(wanted) && !listed.has(name(at))) { found.push(name(at) + " (cluster " + chart.clusterNumber(labels.cluster[at]) + ")"); }
    }
    if (!found.length) { return ""; }
    return "; not listed: " + found.slice(0, FOUND_AT_MOST).join(", ") + (found.length > FOUND_AT_MOST ? ", …" : "");
  }
  function bindSearch(input) {
    const rows = Array.from(document.getElementById(input.dataset.table).tBodies[0].rows);
    const listed = new Set(rows.map((row) => row.cells[0].textContent));
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      rows.forEach((row) => {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        shown += row.hidden ? 0 : 1;
      });
      const said = wanted ? shown + " of " + rows.length + elsewhere(wanted, listed) : "";
      document.getElementById(input.dataset.table + "-count").textContent = said;
    });
  }

  document.querySelectorAll("table").forEach((table) => {
    table.querySelectorAll("thead th").forEach((header, column) => {
      header.querySelector("button").addEventListener("click", () => sortBy(table, column, header));
    });
  });
  document.querySelectorAll("input[type=search]").forEach(bindSearch);
})();
