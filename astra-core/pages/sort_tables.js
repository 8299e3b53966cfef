"use strict";

// Makes the heads of tables buttons that sort by their column.
const valueOf = (row, at) => row.cells[at].textContent;

function compare(a, b) {
  const [x, y] = [Number.parseFloat(a), Number.parseFloat(b)];
  return Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y;
}

function sortBy(table, head, at) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) {
    other.removeAttribute("aria-sort");
  }
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows].sort((a, b) =>
    (down ? -1 : 1) * compare(valueOf(a, at), valueOf(b, at)));
  table.tBodies[0].append(...rows);
}

for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortBy(table, head, at));
    head.append(button);
  });
}
