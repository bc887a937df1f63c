"use strict";
(function () {
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
  function bindTables() {
    document.querySelectorAll("table").forEach((table) => {
      table.querySelectorAll("thead th").forEach((header, column) => {
        header.querySelector("button").addEventListener("click", () => sortBy(table, column, header));
      });
    });
    document.querySelectorAll("input[type=search]").forEach((input) => {
      const rows = Array.from(document.getElementById(input.dataset.table).tBodies[0].rows);
      input.addEventListener("input", () => {
        const wanted = input.value.trim().toLowerCase();
        let shown = 0;
        rows.forEach((row) => {
          row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
          shown += row.hidden ? 0 : 1;
        });
        document.getElementById(input.dataset.table + "-count").textContent = wanted ? shown + " of " + rows.length : "";
      });
    });
  }

  bindTables();
})();
