// The script of a report, of four files in one: what all share.

"use strict";

// ---- Elements

// Everything of the sweep is text that somebody typed: it becomes text nodes
// and attributes of fixed names, never markup.

const find = (selector) => document.querySelector(selector);

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null) node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const make = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);

// Values are often paths that differ at their end: the middle is cut.
function brief(text) {
  if (text === "") return "(empty)";
  return text.length <= 40 ? text :
    text.slice(0, 16) + "\u2026" + text.slice(-23);
}

const withTitle = (tag, text, attributes) => make(tag,
  {...attributes, title: brief(text) === text ? null : text}, brief(text));

// One tooltip for all: `lines` is asked for when it is shown.
function tipped(node, lines) {
  const tip = find("#tip");
  const show = () => {
    tip.textContent = lines().join("\n");
    tip.hidden = false;
    const box = node.getBoundingClientRect();
    const left = Math.min(box.left, innerWidth - tip.offsetWidth - 8);
    const below = box.bottom + 6;
    const fits = below + tip.offsetHeight < innerHeight;
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (fits ? below : box.top - tip.offsetHeight - 6) + "px";
  };
  const hide = () => { tip.hidden = true; };
  return fill(node, {pointerenter: show, pointerleave: hide, focus: show,
    blur: hide}, []);
}

// The <select> of a control, which calls `changed` with what was chosen.
function select(label, options, chosen, changed) {
  const box = make("select", {change: () => changed(box.value)}, ...options.map(
    ([value, text]) => make("option", {value}, brief(text))));
  box.value = chosen;
  return make("label", null, label + " ", box);
}

const same = (names) => names.map((name) => [name, name]);

function plainTable(headers, lines) {
  const cell = (tag, content, i) =>
    make(tag, {class: headers[i].number ? "number" : null}, content);
  return make("div", {class: "scroll"}, make("table", null,
    make("thead", null, make("tr", null,
      ...headers.map(({text}, i) => cell("th", text && brief(text), i)))),
    make("tbody", null, ...lines.map((line) =>
      make("tr", null, ...line.map((text, i) => cell("td", text, i)))))));
}

const facts = (pairs) => make("dl", {class: "facts"},
  ...pairs.flatMap(([name, value]) =>
    [make("dt", null, name), make("dd", null, value)]));

const grouped = (count) => count.toLocaleString("en-US");

const plural = (count, noun) =>
  `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

// ---- The sweep

const sweep = JSON.parse(find("#sweep").textContent);
const metricAt = new Map(sweep.metrics.map((name, i) => [name, i]));
const directions =
  new Map(sweep.objectives.map((goal) => [goal.metric, goal.maximize]));
const goal = sweep.objectives[0];
const stateNames =
  {finished: "finished", infeasible: "infeasible",
    illegal: "left out as illegal", failed: "failed", pending: "not run"};
const hasFinished = (row) =>
  row.state === "finished" || row.state === "infeasible";

const variables = sweep.variables.map((name, at) => {
  const values = [...new Set([...(sweep.axis_values[at] || []),
    ...sweep.rows.map((row) => row.values[at])])];
  const numeric = values.every((v) => v.trim() !== "" && isFinite(v));
  return {name, at, values, numeric};
});
// What tells the points apart.
const axes = variables.slice(0, sweep.num_axes)
  .filter((v) => v.values.length > 1);

// What is shown of a row, also of one that is infeasible.
function shownOf(row, name) {
  const value = row.metrics[metricAt.get(name)];
  return !hasFinished(row) || value === undefined ? null : value;
}

// What rows are compared by.
const metricOf = (row, name) =>
  row.state === "finished" ? shownOf(row, name) : null;

const having = (rows, name) =>
  rows.filter((row) => metricOf(row, name) !== null);

// Objectives say which way is better; of the others their names do.
function largerIsBetter(name) {
  if (directions.has(name)) return directions.get(name);
  return /mfu|tflops|tokens_per_s|busbw|algbw|throughput/i.test(name);
}

// Below 0 where `a` is the better one.
const compareBy = (name, larger) => (a, b) =>
  (larger ? -1 : 1) * (metricOf(a, name) - metricOf(b, name));

// The first of the best.
function bestOf(rows, name, larger) {
  const compare = compareBy(name, larger);
  return having(rows, name).reduce(
    (best, row) => best && compare(best, row) <= 0 ? best : row, null);
}

const bestPoint = (rows) => bestOf(rows, goal.metric, goal.maximize);

function extent(values) {
  return values.reduce(([low, high], v) =>
    [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
}

// ---- Numbers

// A way to write all of `values`, so that they stand in line: `count` digits
// of the largest, more where the smallest or the differences have less than 2.
function numberFormat(values, count = 4) {
  const [low, high] = extent(values);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  const smallest = extent(values.map(Math.abs).filter((v) => v > 0))[0];
  const after = (digits, v) => digits - 1 - Math.floor(Math.log10(v));
  let decimals = 0;
  if (!values.every(Number.isInteger)) {
    decimals = after(count, largest);
    decimals = Math.max(decimals, Math.min(after(2, smallest), decimals + 2),
      high > low ? Math.min(after(2, high - low), decimals + 4) : 0);
  }
  if (largest >= 1e12 || decimals > 9) return (v) => v.toExponential(3);
  const digits = Math.max(decimals, 0);
  const format = new Intl.NumberFormat("en-US",
    {minimumFractionDigits: digits, maximumFractionDigits: digits});
  return (v) => v !== 0 && Math.abs(v) < 0.5 * 10 ** -digits ?
    v.toExponential(1) : format.format(v);
}

const formats = new Map();

function write(name, value) {
  if (value === null) return "\u2013";
  if (!formats.has(name)) {
    // Objectives rank: more of them is told apart.
    formats.set(name, numberFormat(
      sweep.rows.map((row) => shownOf(row, name)).filter((v) => v !== null),
      directions.has(name) ? 5 : 4));
  }
  return formats.get(name)(value);
}

const metricText = (row, name) => write(name, shownOf(row, name));

// Of an objective that was measured with several seeds.
function spreadText(row, name) {
  const low = shownOf(row, name + "_min");
  const high = shownOf(row, name + "_max");
  if (!sweep.repeats || !directions.has(name) || low === null ||
      high === null || low === high) {
    return "";
  }
  return ` (${write(name, low)}..${write(name, high)})`;
}

const percent = (part, whole) =>
  `${(whole === 0 ? 0 : 100 * part / whole).toFixed(1)} %`;

// "1.48x better": how `value` compares with `other`.
function compared(value, other, larger) {
  if (value === other) return "equal";
  const word = (larger ? value > other : value < other) ? "better" : "worse";
  if (Math.min(value, other) <= 0) return word;
  const ratio = Math.max(value / other, other / value);
  const digits = ratio < 1.1 ? 3 : ratio < 100 ? 2 : 0;
  return `${ratio.toFixed(digits)}\u00d7 ${word}`;
}

function configuration(row) {
  const shown = axes.slice(0, 15).map(({name, at}) =>
    `${brief(name)} = ${brief(row.values[at])}`);
  if (axes.length > 15) shown.push("\u2026");
  return [`Point ${row.number}`, ...shown];
}

const tipOf = (row, names) => [...configuration(row),
  ...[...new Set(names)].map((name) =>
    `${name}: ${metricText(row, name)}${spreadText(row, name)}`)];

const objectiveNames = sweep.objectives.map((o) => o.metric);

// ---- Filters

const filters = axes.map(({name, at, values}) =>
  ({name, at, values, of: (row) => row.values[at], pressed: new Set()}));
const states = Object.keys(stateNames).filter((state) =>
  sweep.rows.some((row) => row.state === state));
if (states.length > 1) {
  filters.push({name: "state", values: states, of: (row) => row.state,
    pressed: new Set(), names: stateNames});
}

const textOf = (filter, value) =>
  filter.names ? filter.names[value] : value;

const isKept = (row) => filters.every((filter) =>
  filter.pressed.size === 0 || filter.pressed.has(filter.of(row)));

const keptRows = () => sweep.rows.filter(isKept);

// The values of a variable that the filters leave.
function keptValues(variable) {
  const filter = filters.find((f) => f.at === variable.at);
  return filter === undefined || filter.pressed.size === 0 ? variable.values :
    variable.values.filter((value) => filter.pressed.has(value));
}

function resetFilters() {
  for (const filter of filters) filter.pressed.clear();
  for (const chip of document.querySelectorAll(".chips button")) {
    chip.setAttribute("aria-pressed", "false");
  }
  update();
}

function chipOf(filter, value) {
  const toggle = () => {
    const press = !filter.pressed.delete(value);
    if (press) filter.pressed.add(value);
    chip.setAttribute("aria-pressed", String(press));
    update();
  };
  const chip = withTitle("button", textOf(filter, value),
    {"aria-pressed": "false", click: toggle});
  return chip;
}

function makeFilters() {
  const box = find("#filters .filters");
  for (const filter of filters) {
    box.append(withTitle("span", filter.name),
      make("div", {class: "chips", role: "group", "aria-label": filter.name},
        ...filter.values.map((value) => chipOf(filter, value))));
  }
  if (filters.length > 0) {
    box.append("", make("span"), make("div", null, make("button",
      {click: resetFilters}, "Reset")));
  }
  find("#filters").hidden = filters.length === 0;
}

// What is filtered out must be seen everywhere: this stays in sight.
function showActive(kept) {
  const active = filters.filter((filter) => filter.pressed.size > 0);
  const texts = active.map((filter) => `${brief(filter.name)}: ` +
    filter.values.filter((value) => filter.pressed.has(value))
      .map((value) => brief(textOf(filter, value))).join(", "));
  const box = find("#active");
  box.hidden = active.length === 0;
  box.replaceChildren(
    make("button", {click: resetFilters}, "Reset"),
    `${kept.length} of ${plural(sweep.rows.length, "point")} kept \u2014 ` +
    texts.join("; "));
}
