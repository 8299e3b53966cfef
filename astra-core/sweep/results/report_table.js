// All points as a table, and those that failed.

// ---- Table

const pageOfRows = 500;
const maxShownAxes = 8;  // The metrics must stay in sight.
const table = {columns: [], sort: null, descending: false, limit: pageOfRows};

function variableColumn(variable) {
  const order = new Map(variable.values.map((value, i) => [value, i]));
  return {title: variable.name, number: variable.numeric,
    shown: axes.slice(0, maxShownAxes).includes(variable),
    key: (row) => variable.numeric ? Number(row.values[variable.at]) :
      order.get(row.values[variable.at]),
    cell: (row) => {
      const text = row.values[variable.at];
      return withTitle("td", text,
        {class: variable.numeric ? "number" : null});
    }};
}

function metricColumn(name, shown) {
  return {title: name, number: true, metric: true, shown,
    descending: largerIsBetter(name),
    key: (row) => shownOf(row, name),
    cell: (row) => {
      const spread = spreadText(row, name);
      return make("td", {class: "number"}, metricText(row, name),
        ...(spread ? [make("span", {class: "spread"}, spread)] : []));
    }};
}

function numberCell(row) {
  const button = make("button", {"aria-expanded": "false",
    title: "All of this point", click: () => toggleDetail(button, row)},
  String(row.number));
  return make("td", {class: "number"}, button);
}

function makeColumns() {
  const objectives = objectiveNames.filter((name) => metricAt.has(name));
  const isSpread = (name) => sweep.repeats && /_(min|max)$/.test(name) &&
    directions.has(name.slice(0, -4));
  const others = sweep.metrics.filter((name) => !directions.has(name));
  const shown = new Set([...objectives,
    ...others.filter((name) => !isSpread(name)).slice(0, 6)]);
  table.columns = [
    {title: "point", number: true, shown: true, fixed: true,
      key: (row) => row.number, cell: numberCell},
    ...variables.map(variableColumn),
    {title: "state", shown: states.length > 1, fixed: true,
      key: (row) => states.indexOf(row.state),
      cell: (row) => make("td", {title: row.reason || null,
        class: /^(failed|infeasible|illegal)$/.test(row.state) ? "bad" : null},
      stateNames[row.state])},
    ...[...objectives, ...others].map((name) =>
      metricColumn(name, shown.has(name)))];
  table.sort = table.columns.find((column) => column.title === goal.metric &&
    column.metric) || table.columns[0];
  table.descending = Boolean(table.sort.descending);
}

function makeChooser() {
  const choices = table.columns.filter((column) => !column.fixed);
  find("#table details > div").replaceChildren(
    make("div", {class: "choices"}, ...choices.map((column) => {
      const box = make("input", {type: "checkbox", change: () => {
        column.shown = box.checked;
        makeHeader();
        showTable(keptRows());
      }});
      box.checked = column.shown;
      return make("label", null, box, " " + brief(column.title));
    })));
  find("#table details").hidden = choices.length === 0;
}

function sortBy(column) {
  table.descending = table.sort === column ? !table.descending :
    Boolean(column.descending);
  table.sort = column;
  markSorted();
  showTable(keptRows());
}

// The header stays while rows change, so that a key press keeps its button.
function makeHeader() {
  find("#table thead").replaceChildren(make("tr", null,
    ...table.columns.filter((column) => column.shown).map((column) => {
      column.header = make("th",
        {scope: "col", class: column.number ? "number" : null},
        withTitle("button", column.title,
          {click: () => sortBy(column)}));
      return column.header;
    })));
  markSorted();
}

function markSorted() {
  for (const column of table.columns.filter((c) => c.header)) {
    column.header.setAttribute("aria-sort", column !== table.sort ? "none" :
      table.descending ? "descending" : "ascending");
  }
}

// Rows without a value come last, either way; before them, where it is one of
// metrics, those that are infeasible.
function sorted(rows) {
  const sign = table.descending ? -1 : 1;
  const isLate = (row) => table.sort.metric && row.state === "infeasible";
  return rows.map((row) => ({row, key: table.sort.key(row)}))
    .sort((a, b) => (a.key === null) - (b.key === null) ||
      isLate(a.row) - isLate(b.row) ||
      sign * (a.key - b.key) || a.row.number - b.row.number)
    .map((entry) => entry.row);
}

function toggleDetail(button, row) {
  const line = button.closest("tr");
  const open = button.getAttribute("aria-expanded") === "true";
  button.setAttribute("aria-expanded", String(!open));
  if (open) {
    line.nextSibling.remove();
    return;
  }
  const metrics = sweep.metrics.filter((name) => shownOf(row, name) !== null);
  line.after(make("tr", {class: "detail"},
    make("td", {colspan: line.parentNode.dataset.width},
      make("div", {class: "columns"}, variableFacts(row),
        facts([
          ...(row.state === "finished" ? [] :
            [[stateNames[row.state], row.reason]]),
          ...metrics.map((name) => [name, metricText(row, name)])])),
      ...commandsOf(row))));
}

// What failed has its reason where others have their metrics.
function lineOf(row, columns, best) {
  const line = make("tr", {class: row === best ? "best" : null});
  const metrics = columns.filter((column) => column.metric).length;
  for (const column of columns) {
    if (!column.metric || hasFinished(row)) {
      line.append(column.cell(row));
    }
  }
  if (!hasFinished(row) && metrics > 0) {
    line.append(make("td", {colspan: metrics, class: "reason"}, row.reason));
  }
  return line;
}

function showTable(rows) {
  const columns = table.columns.filter((column) => column.shown);
  const shown = sorted(rows).slice(0, table.limit);
  const best = bestPoint(rows);
  const body = find("#table tbody");
  body.dataset.width = columns.length;
  body.replaceChildren(...shown.map((row) => lineOf(row, columns, best)));
  find("#table > p.note").textContent = rows.length === 0 ?
    "No points." :
    `${shown.length < rows.length ? `The first ${shown.length} of ` : ""}` +
    `${plural(rows.length, "point")}. Press a column's name to sort by it, ` +
    "a point's number to see all of it.";
  find("#table > p > button").hidden = shown.length >= rows.length;
}

// ---- Not ranked

// Reasons of illegal layouts that differ in their numbers are of one rule.
function groupOf(row) {
  const reason = row.state === "illegal" ?
    row.reason.replace(/[0-9]+/g, "#") : row.reason;
  return `${row.state} ${reason}`;
}

function showFailed(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (!/^(failed|infeasible|illegal)$/.test(row.state)) continue;
    const group = groupOf(row);
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(row);
  }
  find("#failed").hidden = groups.size === 0;
  const sized = [...groups].sort((a, b) => b[1].length - a[1].length);
  find("#failed > div").replaceChildren(...sized.map(([, some]) => {
    const {state, reason} = some[0];
    const others = some.some((row) => row.reason !== reason) ?
      " (or with other numbers)" : "";
    const more = some.length > 50 ?
      [make("p", {class: "note"}, `and ${some.length - 50} more`)] : [];
    return make("details", {open: ""},
      make("summary", null,
        `${plural(some.length, "point")} ${stateNames[state]}: `,
        make("span", {class: "bad"},
          (reason || "no reason was recorded") + others)),
      plainTable([{text: "point", number: true},
        ...axes.map((axis) => ({text: axis.name, number: axis.numeric}))],
      some.slice(0, 50).map((row) => [String(row.number),
        ...axes.map(({at}) => brief(row.values[at]))])), ...more);
  }));
}
