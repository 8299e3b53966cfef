// The best configuration, and where its time goes.

// Okabe and Ito's colours, which colour-blind readers tell apart, and two more.
const waitColours = ["#e69f00", "#d55e00", "#cc79a7", "#009e73", "#f0e442",
  "#7b4f2c", "#5b3fa0"];

// What the time of an iteration consists of, with one colour everywhere.
function timeParts() {
  const parts = [];
  const add = (metric, text, colour) => {
    if (sweep.rows.some((row) => metricOf(row, metric) > 0)) {
      parts.push({metric, text, colour});
    }
  };
  add("compute_ms", "compute", "#0072b2");
  add("slowed_ms", "compute, slowed by collectives", "#56b4e9");
  sweep.metrics.filter((name) => /^exposed_.+_ms$/.test(name))
    .forEach((name, i) => add(name,
      `waiting for ${name.slice(8, -3)}`, waitColours[i % 7]));
  add("bubble_ms", "pipeline bubble", "#999999");
  return parts;
}

const parts = timeParts();

// The parts of a row that are not zero, and their whole. What they lack to the
// iteration is "other", unless it is rounding.
function breakdownOf(row) {
  const found = parts.map((part) => ({...part,
    value: metricOf(row, part.metric) || 0})).filter((part) => part.value > 0);
  const sum = found.reduce((total, part) => total + part.value, 0);
  const iteration = metricOf(row, "iteration_ms");
  if (iteration !== null && iteration - sum > 0.0005 * iteration) {
    found.push({text: "other", colour: "#c9ced3", value: iteration - sum});
  }
  return {parts: found,
    whole: iteration === null ? sum : iteration, unit: "ms"};
}

// A chart of such breakdowns. Its parts are told apart by their names.
function barChart(label, bars) {
  const colours = new Map(bars.flatMap(({breakdown}) =>
    breakdown.parts.map((part) => [part.text, part.colour])));
  const names = [...colours.keys()];
  return {kind: "bars", label, unit: bars[0].breakdown.unit,
    parts: [...colours].map(([name, colour]) => ({name, colour})),
    bars: bars.map(({name, whole, breakdown}) => ({name, whole,
      parts: names.map((text) =>
        (breakdown.parts.find((part) => part.text === text) || {value: 0})
          .value)}))};
}

function breakdownFigure(row) {
  const breakdown = breakdownOf(row);
  const format = numberFormat(breakdown.parts.map((part) => part.value));
  const figure = make("figure", {class: "chart"});
  const box = make("div", null, make("h3", null, "Where its time goes"), figure,
    plainTable([{text: ""}, {text: "ms", number: true},
      {text: "share", number: true}],
    breakdown.parts.map((part) => [part.text, format(part.value),
      percent(part.value, breakdown.whole)])));
  return {box, draw: () => drawChart(figure, barChart("Where its time goes",
    [{name: `point ${row.number}`, whole: metricText(row, "iteration_ms"),
      breakdown}]))};
}

// A bar for the best point of each value of an axis.
const maxBars = 30;
let barAxis = axes[0];

function stepBests(rows) {
  const axis = barAxis;
  const bests = new Map();
  for (const row of having(rows, goal.metric)) {
    const value = row.values[axis.at];
    const best = bests.get(value);
    if (!best || compareBy(goal.metric, goal.maximize)(row, best) < 0) {
      bests.set(value, row);
    }
  }
  return axis.values.filter((value) => bests.has(value))
    .map((value) => ({value, row: bests.get(value)}));
}

// Without a breakdown a bar is the objective.
function stepBreakdown(row) {
  if (parts.length > 0) return breakdownOf(row);
  const value = Math.max(metricOf(row, goal.metric), 0);
  return {parts: [{text: goal.metric, colour: "#0072b2", value}],
    whole: value, unit: ""};
}

function makeSteps() {
  if (axes.length === 0) return;
  find("#steps h3").append(select("The best for each",
    axes.map((axis) => [axis.at, axis.name]), barAxis.at,
    (at) => {
      barAxis = variables[at];
      showSteps(keptRows());
    }));
}

function showSteps(rows) {
  const steps = axes.length > 0 ? stepBests(rows) : [];
  find("#steps").hidden = steps.length === 0;
  if (steps.length === 0) return;
  drawChart(find("#steps figure"), barChart(
    `The best for each ${barAxis.name}`, steps.slice(0, maxBars).map(
      ({value, row}) => ({name: brief(value),
        whole: metricText(row, goal.metric),
        breakdown: stepBreakdown(row)}))));
  find("#steps p").textContent = `On the right: ${goal.metric}.` +
    (steps.length > maxBars ?
      ` Only the first ${maxBars} of ${steps.length} values.` : "");
}

function objectiveTable(best, rows) {
  const lines = sweep.objectives.map(({metric, maximize}) => {
    const ranked = having(rows, metric).sort(compareBy(metric, maximize));
    const value = metricOf(best, metric);
    const against = (row) => value === null ? "\u2013" :
      `${metricText(row, metric)} (` +
      `${compared(value, metricOf(row, metric), maximize)})`;
    return [`${maximize ? "maximize" : "minimize"} ${metric}`,
      metricText(best, metric) + spreadText(best, metric),
      ranked.length ? against(ranked[ranked.length >> 1]) : "\u2013",
      ranked.length ? against(ranked[ranked.length - 1]) : "\u2013"];
  });
  return plainTable([{text: "objective"}, {text: "this point", number: true},
    {text: "median", number: true}, {text: "worst", number: true}], lines);
}

// Of many variables, those that are the same in all points matter least.
function variableFacts(row) {
  const telling = variables.filter((v) => v.values.length > 1);
  const fixed = variables.filter((v) => v.values.length === 1);
  const list = (some) => facts(some.map(({name, at}) =>
    [name, row.values[at] === "" ? "(empty)" : row.values[at]]));
  const box = make("div");
  if (telling.length > 0) box.append(list(telling));
  if (fixed.length > 0) {
    box.append(make("details", null,
      make("summary", {class: "note"}, "The same in all points"), list(fixed)));
  }
  return box;
}

function commandsOf(row) {
  return row.commands.length === 0 ? [] :
    [make("h3", null, "Commands"),
      make("pre", null, row.commands.join("\n"))];
}

function showBest(rows) {
  const box = find("#best > div");
  const best = bestPoint(rows);
  const feasible = states.includes("infeasible") ? "feasible " : "";
  find("#best > div:last-child").replaceChildren(
    ...(best === null ? [] : commandsOf(best)));
  if (best === null) {
    box.replaceChildren(make("p", null, `No ${feasible}point that finished` +
      (rows.length < sweep.rows.length ? " under the filters" : "") +
      ` has ${goal.metric}.`));
    return;
  }
  const equals = having(rows, goal.metric).filter((row) =>
    metricOf(row, goal.metric) === metricOf(best, goal.metric)).length - 1;
  box.replaceChildren(
    make("p", null, `Point ${best.number}, the best in ${goal.metric} of ` +
      plural(having(rows, goal.metric).length, `${feasible}point`) +
      " with a result" +
      (equals > 0 ? `; ${plural(equals, "other point")} equal it.` : ".")),
    make("div", {class: "columns"}, variableFacts(best),
      objectiveTable(best, rows)));
  if (parts.length === 0) return;
  const figure = breakdownFigure(best);
  box.append(figure.box);
  figure.draw();
}
