// The heat map and the Pareto front.

// ---- Heat map

const maxSteps = 60;
const heat = {};

// The two axes with most combinations: those that move together have few.
function widestPair() {
  const widest = [...axes]
    .sort((a, b) => b.values.length - a.values.length).slice(0, 6);
  let best = {count: 0, pair: [widest[0].at, -1]};
  widest.forEach((x, i) => widest.slice(i + 1).forEach((y) => {
    const count = new Set(sweep.rows.map((row) =>
      JSON.stringify([row.values[x.at], row.values[y.at]]))).size;
    if (count > best.count) best = {count, pair: [x.at, y.at]};
  }));
  return best.pair;
}

function makeHeat() {
  if (axes.length === 0 || sweep.metrics.length === 0) {
    find("#heat").hidden = true;
    return;
  }
  heat.metric = metricAt.has(goal.metric) ? goal.metric : sweep.metrics[0];
  [heat.x, heat.y] = widestPair();
  const names = axes.map((axis) => [axis.at, axis.name]);
  const set = (what, value) => {
    heat[what] = value;
    showHeat(keptRows());
  };
  find("#heat .controls").append(
    select("Metric", same(sweep.metrics), heat.metric,
      (name) => set("metric", name)),
    select("across", names, heat.x, (at) => set("x", Number(at))),
    select("down", [...names, [-1, "(nothing)"]], heat.y,
      (at) => set("y", Number(at))));
}

function axisOf(at) {
  return at < 0 ? {name: "", values: [""], of: () => ""} :
    {name: variables[at].name,
      values: keptValues(variables[at]).slice(0, maxSteps),
      cut: keptValues(variables[at]).length > maxSteps,
      of: (row) => row.values[at]};
}

// The rows of each cell, by "x, y" as positions.
function cellsOf(rows, x, y) {
  const at = (axis) => new Map(axis.values.map((value, i) => [value, i]));
  const [columns, lines] = [at(x), at(y)];
  const cells = new Map();
  for (const row of rows) {
    const key = `${columns.get(x.of(row))},${lines.get(y.of(row))}`;
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key).push(row);
  }
  return cells;
}

// From 0, the worst, to 1. Over more than a decade by ratios, since one slow
// point would make all others look alike.
function strengthOf(values, larger) {
  const [low, high] = extent(values);
  const byRatio = low > 0 && high / low > 10;
  const of = byRatio ? Math.log : (v) => v;
  return {low, high, byRatio, at: (value) => {
    if (high === low) return 0.5;
    const share = (of(value) - of(low)) / (of(high) - of(low));
    return larger ? share : 1 - share;
  }};
}

function emptyCell(rows) {
  const state = ["infeasible", "failed", "illegal", "pending"].find((name) =>
    rows.some((row) => row.state === name));
  return tipped(make("td", {class: "none"}, stateNames[state] || "\u2013"),
    () => [plural(rows.length, "point") +
      (rows.length > 0 ? `, none with ${heat.metric}` : "")]);
}

function heatCell(rows, larger, strength) {
  const best = bestOf(rows, heat.metric, larger);
  if (best === null) return emptyCell(rows);
  const share = strength.at(metricOf(best, heat.metric));
  const alpha = 0.06 + 0.52 * share;  // More would hide the text.
  const cell = make("td", null, metricText(best, heat.metric));
  cell.style.setProperty("--strength", alpha.toFixed(3));
  return tipped(cell, () => [...tipOf(best, [heat.metric, ...objectiveNames]),
    `${larger ? "largest" : "smallest"} of ${plural(
      having(rows, heat.metric).length, "point")} here`]);
}

function heatTable(x, y, cells, larger, strength) {
  const head = make("tr", null, withTitle("th", y.name || " "),
    ...x.values.map((value) => withTitle("th", value, {scope: "col"})));
  const lines = y.values.map((down, j) => make("tr", null,
    y.name ? withTitle("th", down, {scope: "row"}) : make("th"),
    ...x.values.map((_, i) =>
      heatCell(cells.get(`${i},${j}`) || [], larger, strength))));
  return make("div", {class: "scroll"}, make("table", {class: "heat"},
    make("thead", null, make("tr", null, make("th"),
      make("th", {colspan: x.values.length}, brief(x.name))), head),
    make("tbody", null, ...lines)));
}

function heatLegend(strength, larger) {
  const ends = [strength.low, strength.high].map((v) => write(heat.metric, v));
  const [worst, best] = larger ? ends : ends.reverse();
  return make("p", {class: "legend note"}, `${worst} (worst)`,
    make("span", {class: "scale"}), `${best} (best)` +
    (strength.byRatio ? ", by ratio" : ""));
}

function showHeat(rows) {
  if (find("#heat").hidden) return;
  const box = find("#heat > div:last-child");
  const larger = largerIsBetter(heat.metric);
  const [x, y] = [axisOf(heat.x), axisOf(heat.x === heat.y ? -1 : heat.y)];
  const cells = cellsOf(rows, x, y);
  const values = [...cells.values()]
    .map((some) => bestOf(some, heat.metric, larger))
    .filter((row) => row !== null).map((row) => metricOf(row, heat.metric));
  const strength = strengthOf(values, larger);
  box.replaceChildren(heatTable(x, y, cells, larger, strength),
    make("p", {class: "note"}, `A cell is the ` +
      `${larger ? "largest" : "smallest"} ${heat.metric} of its points, ` +
      "over all values of the other axes. Hatched: no result." +
      (x.cut || y.cut ? ` Only the first ${maxSteps} values.` : "")));
  if (strength.low < strength.high) box.append(heatLegend(strength, larger));
}

// ---- Pareto

const maxDots = 5000;
const pareto = {};

function defaultMetrics() {
  const names = objectiveNames.filter((name) => metricAt.has(name));
  if (names.length > 1) return names;
  const usual = ["iteration_ms", "allocated_memory_gib"];
  return usual.every((name) => metricAt.has(name)) ? usual : sweep.metrics;
}

function makePareto() {
  if (sweep.metrics.length < 2) {
    find("#pareto").hidden = true;
    return;
  }
  const box = find("#pareto .controls");
  defaultMetrics().slice(0, 2).forEach((name, i) => {
    const side = {name, larger: largerIsBetter(name)};
    pareto["xy"[i]] = side;
    const way = select("to", [["min", "minimize"], ["max", "maximize"]],
      side.larger ? "max" : "min",
      (value) => {
        side.larger = value === "max";
        showPareto(keptRows());
      });
    const metric = select(["Across", "up"][i], same(sweep.metrics), name,
      (value) => {
        side.name = value;
        side.larger = largerIsBetter(value);
        way.lastChild.value = side.larger ? "max" : "min";
        showPareto(keptRows());
      });
    box.append(make("span", null, metric, " ", way));
  });
}

// Those that no other is at least as good as in both and better in one, by x.
function frontOf(rows) {
  const {x, y} = pareto;
  const byX = compareBy(x.name, x.larger);
  const byY = compareBy(y.name, y.larger);
  const front = [];
  for (const row of [...rows].sort((a, b) => byX(a, b) || byY(a, b))) {
    const last = front[front.length - 1];
    if (!last || byY(row, last) < 0 ||
        (byY(row, last) === 0 && byX(row, last) === 0)) {
      front.push(row);
    }
  }
  return front;
}

// The points by the two metrics, those of the front joined by steps.
function paretoChart(rows, front) {
  const names = [pareto.x.name, pareto.y.name];
  const shown = [...names, ...objectiveNames];
  const point = (row, mark) => [...names.map((name) => metricOf(row, name)),
    mark, tipOf(row, shown).join("\n")];
  const inFront = new Set(front);
  const every = Math.ceil(rows.length / maxDots);
  const others = rows.filter((row, i) => !inFront.has(row) && i % every === 0);
  const axis = ({name, larger}) =>
    ({name: `${name} (${larger ? "larger" : "smaller"} is better)`});
  return {kind: "lines", label: "The points by two metrics",
    x: axis(pareto.x), y: axis(pareto.y), lines: [
      {name: "other points", join: "none", dots: true,
        points: others.map((row) => point(row, ""))},
      {name: "Pareto front", join: "steps", dots: true,
        points: front.map((row) => point(row, String(row.number)))},
    ].filter((line) => line.points.length > 0)};
}

function frontTable(front) {
  const names = [pareto.x.name, pareto.y.name];
  const shown = axes.slice(0, maxShownAxes);
  return plainTable(
    [{text: "point", number: true},
      ...shown.map((axis) => ({text: axis.name, number: axis.numeric})),
      ...names.map((text) => ({text, number: true}))],
    front.slice(0, 100).map((row) => [String(row.number),
      ...shown.map(({at}) => brief(row.values[at])),
      ...names.map((name) => metricText(row, name))]));
}

function showPareto(rows) {
  if (find("#pareto").hidden) return;
  const {x, y} = pareto;
  const figure = find("#pareto figure");
  const both = having(having(rows, x.name), y.name);
  const box = find("#pareto > div:last-child");
  figure.hidden = both.length === 0;
  if (both.length === 0) {
    box.replaceChildren(make("p", null,
      `No point that finished has ${x.name} and ${y.name}.`));
    return;
  }
  const front = frontOf(both);
  drawChart(figure, paretoChart(both, front));
  box.replaceChildren(make("p", {class: "note"},
    `${plural(front.length, "point")} of ${both.length}: no other is at ` +
    "least as good in both metrics and better in one." +
    (both.length > maxDots ? " Of the others only some are drawn." : "") +
    (front.length > 100 ? " The first 100:" : "")), frontTable(front));
}
