"use strict";

// Makes the heads of tables buttons that sort by their column.
const valueOf = (row, at) => row.cells[at].textContent.trim();
const byText = new Intl.Collator("en", { numeric: true }).compare;

// Returns how two cells of a column compare: as numbers where all are numbers.
const orderOf = (values) =>
  values.every((value) => value === "" || !Number.isNaN(Number(value)))
    ? (a, b) => Number(a) - Number(b) : byText;

function sortBy(table, head, at) {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) {
    other.removeAttribute("aria-sort");
  }
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows];
  const compare = orderOf(rows.map((row) => valueOf(row, at)));
  rows.sort((first, second) => {
    const [a, b] = [valueOf(first, at), valueOf(second, at)];
    if (a === "" || b === "") return (a === "") - (b === "");  // They come last.
    return (down ? -1 : 1) * compare(a, b);
  });
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
