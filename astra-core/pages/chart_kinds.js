// What Apache ECharts is told to draw for each kind of chart.
//
//   const view = chartKinds.bars({unit: "ms", parts: [...], bars: [...]});
//
// Each function below takes what its comment says, and returns a view: `height`
// in pixels; `keys` of the legend, one for each series; `stops`, which readers
// walk through: rows of {series, at, x, text}; `option`, the part of ECharts'
// option that depends on the kind; and of an x axis what it is `across`, its
// `extent` and whether it is `log`.
"use strict";

const chartKinds = (() => {
  // Okabe and Ito, "Color Universal Design", 2008, which colour-blind readers
  // tell apart; dashes tell lines apart without colour.
  const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00",
    "#56b4e9", "#999999"];
  const dashes = ["solid", "dashed", "dotted"];
  // Colours of colours.css, which follow the scheme of the reader.
  const [ink, muted, paper] = ["ink", "muted", "paper"]
    .map((name) => `var(--${name})`);
  const rowPixels = 26;
  const planePixels = 400;

  const textOf = (value) => String(Number(value.toPrecision(6)));
  const ofList = (list, at) => list[at % list.length];

  // ---- Axes

  // Returns 1, 2 and 5 times the powers of ten, from below `low` to above
  // `high`.
  function roundNumbers(low, high) {
    const numbers = [];
    for (let power = Math.floor(Math.log10(low)); 10 ** power <= 10 * high;
      ++power) {
      numbers.push(...[1, 2, 5].map((step) => Number(`${step}e${power}`)));
    }
    return numbers;
  }

  // Returns the ends of an axis: round numbers around all values.
  function extentOf({log, zero}, values) {
    const all = zero && !log ? [0, ...values] : values;
    let low = all.reduce((a, b) => Math.min(a, b));
    let high = all.reduce((a, b) => Math.max(a, b));
    if (log) {
      const numbers = roundNumbers(low, high);
      const first = numbers.findLast((number) => number <= low);
      return [first, numbers.find((number) =>
        number >= high && number > first)];
    }
    if (low === high) {
      const margin = Math.abs(low) / 10 || 1;
      [low, high] = [zero ? low : low - margin, high + margin];
    }
    const step = roundNumbers((high - low) / 5, (high - low) / 5)
      .find((number) => number * 5 >= high - low);
    return [Math.floor(low / step) * step, Math.ceil(high / step) * step]
      .map((end) => Number(end.toPrecision(12)));
  }

  // Returns the axis of a quantity. `spec` has its name with the unit, and says
  // whether equal ratios are equally long (log), whether 0 is in it (zero), and
  // whether it may end between two round numbers (exact).
  function quantity(spec, [min, max]) {
    const customValues = spec.log ? roundNumbers(min, max)
      .filter((number) => min <= number && number <= max) : undefined;
    return {
      type: spec.log ? "log" : "value", min, max, name: spec.name,
      nameLocation: "middle", nameGap: 28, nameTextStyle: {color: muted},
      axisLine: {show: false}, axisTick: {show: false, customValues},
      axisLabel: {color: ink, hideOverlap: true, formatter: textOf,
        customValues, showMaxLabel: extentOf(spec, [min, max])[1] === max ||
          !spec.exact},
      splitLine: {lineStyle: {color: "var(--rule)"}, customValues},
    };
  }

  // Returns the axis of rows, the first of which is at the top.
  const rowAxis = (names, position = "left") => ({
    type: "category", data: names, inverse: true, position,
    axisLine: {show: false}, axisTick: {show: false},
    axisLabel: {color: ink, interval: 0, width: 400, overflow: "truncate"},
  });

  const rowsHeight = (rows) => rowPixels * rows.length + 50;
  const namesOf = (rows) => rows.map((row) => row.name);

  // ---- Kinds

  // Bars of parts: {unit, parts: [{name, colour}], bars: [{name, parts:
  // [number], whole: text}]}.
  function bars({unit, parts, bars: rows}) {
    const sums = rows.map((bar) => bar.parts.reduce((a, b) => a + b, 0));
    const extent = [0, Math.max(...sums) || 1];
    const stopsOf = (bar, at) => {
      let end = 0;
      return parts.map(({name}, series) => {
        const part = bar.parts[series];
        const share = (100 * part / (sums[at] || 1)).toFixed(1);
        return {series, at, x: [end, end += part],
          text: `${bar.name}: ${name} ${textOf(part)} ${unit}, ${share} %`};
      }).filter(({series}) => bar.parts[series] > 0);
    };
    return {
      height: rowsHeight(rows), keys: parts, stops: rows.map(stopsOf), extent,
      across: unit || "value",
      option: {
        xAxis: quantity({name: unit, zero: true, exact: true}, extent),
        yAxis: [rowAxis(namesOf(rows)),
          rowAxis(rows.map((bar) => bar.whole), "right")],
        series: parts.map(({colour}, series) => ({
          type: "bar", stack: "all", barWidth: "74%", color: colour,
          data: rows.map((bar) => bar.parts[series] || "-"),
        })),
      },
    };
  }

  // The looks of points and lines in a plane by how points are joined. Those
  // that are not joined stand back behind the others.
  const joins = {
    none: {type: "scatter", colour: () => muted, dash: () => "dot", size: 7},
    steps: {type: "line", step: "end", colour: () => "var(--accent)",
      dash: () => "solid", size: 9},
    straight: {type: "line", colour: (at) => ofList(palette, at),
      dash: (at) => ofList(dashes, at), size: 9},
  };

  // Returns the series of a line.
  function lineSeries({join, dots, points}, at) {
    const {type, step, colour, dash, size} = joins[join];
    return {
      type, step, color: colour(at), symbol: "circle",
      symbolSize: size, showSymbol: Boolean(dots), showAllSymbol: true,
      itemStyle: {opacity: join === "none" ? 0.5 : 1},
      lineStyle: {width: 1.8, type: dash(at)},
      labelLayout: {hideOverlap: true, dy: -8},
      data: points.map(([x, y, mark]) => ({value: [x, y], label: {
        show: Boolean(mark), formatter: mark, color: ink,
        position: "right", distance: 3, minMargin: 6}})),
    };
  }

  // Returns the mark of a limit: a line across the plane.
  const limitLine = ({axis, at, name}) => ({
    silent: true, symbol: "none", data: [{[`${axis}Axis`]: at}],
    lineStyle: {color: "var(--bad)", type: "dashed"},
    label: {formatter: name, color: ink,
      position: axis === "x" ? "end" : "insideEndTop"},
  });

  // Lines and points in a plane: {x, y, limit, lines: [{name, join, dots,
  // points: [[x, y, mark, text]]}]}. A join is one of those above, a mark stands
  // beside its point, and the text says what the point is. A limit is {axis: "x"
  // or "y", at, name}.
  function lines({x, y, lines: all, limit}) {
    const extentAlong = (spec, axis, at) => extentOf(spec, [
      ...all.flatMap((line) => line.points.map((point) => point[at])),
      ...(limit && limit.axis === axis ? [limit.at] : [])]);
    const extent = extentAlong(x, "x", 0);
    const series = all.map(lineSeries);
    if (limit) series[0].markLine = limitLine(limit);
    const textAt = (line, [across, up, , text]) => text ||
      `${line.name}: ${x.name} ${textOf(across)}, ${y.name} ${textOf(up)}`;
    return {
      height: planePixels, narrow: true, extent, log: x.log, across: x.name,
      keys: all.map(({name, join}, at) => ({name,
        colour: joins[join].colour(at), dash: joins[join].dash(at)})),
      stops: all.map((line, number) => line.points.map((point, at) => ({at,
        series: number, x: [point[0], point[0]], text: textAt(line, point)}))),
      // Without dots there is nothing to point at but a place on the x axis.
      trigger: all.some((line) => line.dots) ? "item" : "axis",
      option: {xAxis: quantity(x, extent), series,
        yAxis: quantity(y, extentAlong(y, "y", 1))},
    };
  }

  // Returns the shape of a span [begin, end, row] of a timeline.
  function spanShape(params, api) {
    const [from, middle] = api.coord([api.value(0), api.value(2)]);
    const [to] = api.coord([api.value(1), api.value(2)]);
    const height = 0.84 * api.size([0, 1])[1];
    return {type: "rect", style: {fill: api.visual("color")},
      shape: {x: from, y: middle - height / 2,
        width: Math.max(to - from, 0.2), height}};
  }

  // What several did over time: {unit, kinds: [{name, colour}], rows: [{name,
  // spans: [[begin, end, kind, text]]}]}.
  function timeline({unit, kinds, rows}) {
    const extent = [0, Math.max(...rows.flatMap(({spans}) =>
      spans.slice(-1).map((span) => span[1])))];
    const series = kinds.map(() => []);  // The spans of each kind.
    const stopOf = (name, row, [begin, end, kind, text]) => {
      series[kind].push([begin, end, row]);
      const what = text || `${kinds[kind].name} and others, each too short`;
      return {series: kind, at: series[kind].length - 1, x: [begin, end],
        text: `${name}, ${textOf(begin)} to ${textOf(end)} ${unit}: ${what}`};
    };
    const stops = rows.map(({name, spans}, row) =>
      spans.map((span) => stopOf(name, row, span)));
    return {
      height: rowsHeight(rows), stops, extent, across: unit,
      keys: kinds.map((kind, at) =>
        ({...kind, unused: series[at].length === 0})),
      option: {
        xAxis: quantity({name: unit, exact: true}, extent),
        yAxis: rowAxis(namesOf(rows)),
        series: series.map((data, kind) => ({
          type: "custom", clip: true, color: kinds[kind].colour, data,
          encode: {x: [0, 1], y: 2}, renderItem: spanShape,
        })),
      },
    };
  }

  // Parts of a whole: {slices: [{name, size, text}]}.
  function pie({slices}) {
    const keys = slices.map(({name}, at) =>
      ({name, colour: ofList(palette, at)}));
    return {
      height: planePixels, keys,
      stops: [slices.map(({name, text}, at) =>
        ({series: 0, at, text: `${name}: ${text}`}))],
      option: {series: [{
        type: "pie", radius: "92%", label: {show: false},
        itemStyle: {borderColor: paper, borderWidth: 1},
        data: slices.map(({size}, at) => ({name: String(at), value: size,
          itemStyle: {color: keys[at].colour}})),
      }]},
    };
  }

  return {bars, lines, timeline, pie, textOf};
})();
