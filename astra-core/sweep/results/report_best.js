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
  return {parts: found, sum: Math.max(sum, iteration || 0),
    whole: iteration === null ? sum : iteration, unit: " ms"};
}

// The bar says its parts in words, too.
function barOf(breakdown, longest) {
  const width = (value) => `${longest > 0 ? 100 * value / longest : 0}%`;
  const format = numberFormat(breakdown.parts.map((part) => part.value));
  const words = breakdown.parts.map((part) =>
    `${part.text} ${format(part.value)}${breakdown.unit}`).join(", ");
  return make("div", {class: "bar", role: "img", "aria-label": words},
    ...breakdown.parts.map((part) => {
    const piece = make("span");
    piece.style.width = width(part.value);
    piece.style.background = part.colour;
    return piece;
  }));
}

const swatch = (colour) => {
  const node = make("span", {class: "swatch"});
  node.style.background = colour;
  return node;
};

function breakdownFigure(row) {
  const breakdown = breakdownOf(row);
  const format = numberFormat(breakdown.parts.map((part) => part.value));
  return make("div", null, make("h3", null, "Where its time goes"),
    barOf(breakdown, breakdown.sum),
    plainTable(
      [{text: ""}, {text: ""}, {text: "ms", number: true},
        {text: "share", number: true}],
      breakdown.parts.map((part) => [swatch(part.colour), part.text,
        format(part.value),
        percent(part.value, breakdown.whole)])));
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

// The colours of the bars; the best point may not have all.
function stepLegend(breakdowns) {
  const colours = new Map(breakdowns.flatMap((breakdown) =>
    breakdown.parts.map((part) => [part.text, part.colour])));
  return make("p", {class: "legend note"}, ...[...colours].map(
    ([text, colour]) => make("span", null, swatch(colour), " " + text)));
}

// Without a breakdown a bar is the objective.
function stepBreakdown(row) {
  if (parts.length > 0) return breakdownOf(row);
  const value = Math.max(metricOf(row, goal.metric), 0);
  return {parts: [{text: goal.metric, colour: "#0072b2", value}],
    sum: value, whole: value, unit: ""};
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
  const drawn = steps.slice(0, maxBars).map((step) =>
    ({...step, breakdown: stepBreakdown(step.row)}));
  const longest = extent(drawn.map((step) => step.breakdown.sum))[1];
  find("#steps > div").replaceChildren(
    make("div", {class: "bars"}, ...drawn.flatMap(({value, row, breakdown}) => [
      withTitle("span", value),
      fill(tipped(barOf(breakdown, longest), () => [
        ...tipOf(row, objectiveNames), ...breakdown.parts.map((part) =>
          `${part.text}: ${percent(part.value, breakdown.whole)}`)]),
      {tabindex: 0}, []),
      make("span", {class: "number"}, metricText(row, goal.metric))])),
    ...(parts.length > 0 ? [stepLegend(drawn.map((s) => s.breakdown))] : []),
    make("p", {class: "note"}, `On the right: ${goal.metric}.` +
      (steps.length > maxBars ?
        ` Only the first ${maxBars} of ${steps.length} values.` : "")));
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
  if (parts.length > 0) box.append(breakdownFigure(best));
}
