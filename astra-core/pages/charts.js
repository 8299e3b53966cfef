// Draws the charts of a page with Apache ECharts, as chart_kinds.js says. Their
// scripts stand before this one.
//
//   drawChart(figure, {kind: "bars", label: "Where the time goes", ...});
//
// Readers walk through the numbers of a chart with the arrow keys and hear
// them, zoom with + and -, with two fingers, or with the wheel while Ctrl is
// down, and hide parts with the buttons of the legend. Nothing is animated.
// Texts become text nodes, never markup.
"use strict";

const drawChart = (() => {
  const instructions = "Arrow keys read the chart; + and - zoom, Shift with " +
    "an arrow moves, 0 shows all.";

  const drawn = new WeakMap();  // What ends the chart of a figure.

  const element = (tag, attributes, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  };

  // Returns the whole option of ECharts. Series are named by their number.
  function optionOf(view) {
    const texts = new Map(view.stops.flat().map(({series, at, text}) =>
      [`${series},${at}`, text]));
    // What stands in a tooltip: of several points of a line in one place, the last.
    const tipOf = (params) => {
      const points = new Map([params].flat().map((point) =>
        [point.seriesIndex, `${point.seriesIndex},${point.dataIndex}`]));
      return [...points.values()].map((point) => texts.get(point)).join("\n");
    };
    return {
      ...view.option,
      series: view.option.series.map((series, at) =>
        ({name: String(at), emphasis: {disabled: true}, ...series})),
      animation: false, legend: {show: false},
      textStyle: {fontFamily: getComputedStyle(document.body).fontFamily},
      grid: {left: 4, right: 12, top: 14, bottom: 4, outerBoundsMode: "same",
        outerBoundsContain: "all"},
      dataZoom: view.extent ? [{type: "inside", filterMode: "none",
        zoomOnMouseWheel: "ctrl", preventDefaultMouseMove: false,
        minSpan: 0.001}] : [],
      tooltip: {
        trigger: view.trigger || "item", confine: true, transitionDuration: 0,
        className: "chart-tip", backgroundColor: "var(--paper)",
        borderColor: "var(--muted)",
        textStyle: {color: "var(--ink)", fontSize: 13},
        axisPointer: {lineStyle: {color: "var(--muted)"}},
        formatter: (params) => element("div", {}, tipOf(params)),
      },
    };
  }

  // Returns a button that shows or hides a series, or a slice of a pie.
  function keyOf({name, colour, dash}, at, chart) {
    const swatch = element("span", {class: `swatch ${dash || ""}`});
    swatch.style.color = colour;
    const button = element("button", {type: "button", "aria-pressed": "true"},
      swatch, ` ${name}`);
    button.addEventListener("click", () => {
      const isShown = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!isShown));
      chart.dispatchAction({type: "legendToggleSelect", name: String(at)});
    });
    return button;
  }

  // Returns what moves the part of the x axis that is seen, of which `say` is
  // told. Places are in percent of the whole axis.
  function windowOf(view, chart, say) {
    const scale = view.log ? Math.log : Number;
    const [low, high] = (view.extent || [1, 2]).map(scale);
    const valueAt = (place) => {
      const value = low + (high - low) * place / 100;
      return view.log ? Math.exp(value) : value;
    };
    let [from, to] = [0, 100];
    chart.on("datazoom", (event) => {
      ({start: from, end: to} = event.batch ? event.batch[0] : event);
      const ends = [from, to].map(valueAt).map(chartKinds.textOf);
      say(`${view.across}: ${ends.join(" to ")}`);
    });
    const show = (start, width) => {
      if (!view.extent) return;
      const size = Math.min(100, Math.max(0.001, width));
      const begin = Math.min(100 - size, Math.max(0, start));
      chart.dispatchAction({type: "hideTip"});
      chart.dispatchAction({type: "dataZoom", start: begin, end: begin + size});
    };
    return {
      all: () => show(0, 100),
      zoom: (factor) => show(from + (to - from) * (1 - factor) / 2,
        (to - from) * factor),
      move: (share) => show(from + share * (to - from), to - from),
      // Shows a place between two values, if it does not yet.
      follow: (values) => {
        if (!view.extent) return;
        const [begin, end] = values.map((value) =>
          100 * (scale(value) - low) / (high - low));
        const width = to - from;
        if (begin > to || end < from) show((begin + end - width) / 2, width);
      },
    };
  }

  // Returns what walks through the stops of a chart: by rows, and along a row.
  function walkOf(view, chart, seen, say) {
    const rows = view.stops.filter((stops) => stops.length > 0);
    const within = (at, list) => Math.min(list.length - 1, Math.max(0, at));
    let [row, column] = [0, -1];
    return (down, along) => {
      if (rows.length === 0) return;
      row = within(row + down, rows);
      column = within(column + along, rows[row]);
      const {series, at, x, text} = rows[row][column];
      if (x) seen.follow(x);
      chart.dispatchAction(
        {type: "showTip", seriesIndex: series, dataIndex: at});
      say(text);
    };
  }

  // Lets readers use a chart by keyboard.
  function listen(view, plane, chart, say) {
    const seen = windowOf(view, chart, say);
    const walk = walkOf(view, chart, seen, say);
    const actions = {
      "+": () => seen.zoom(0.5), "-": () => seen.zoom(2), "0": seen.all,
      ArrowLeft: (shift) => shift ? seen.move(-0.25) : walk(0, -1),
      ArrowRight: (shift) => shift ? seen.move(0.25) : walk(0, 1),
      ArrowUp: () => walk(-1, 0), ArrowDown: () => walk(1, 0),
    };
    plane.addEventListener("keydown", (event) => {
      const action = actions[event.key];
      if (!action || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      action(event.shiftKey);
    });
    plane.addEventListener("blur", () => {
      chart.dispatchAction({type: "hideTip"});
      chart.dispatchAction({type: "updateAxisPointer", currTrigger: "leave"});
    });
  }

  // Draws what `spec` describes into `figure`, in place of an earlier chart.
  return (figure, spec) => {
    drawn.get(figure)?.();
    const view = chartKinds[spec.kind](spec);
    const canvas = element("div", {"aria-hidden": "true"});
    canvas.style.height = `${view.height}px`;
    const plane = element("div", {class: "plane", tabindex: "0",
      role: "application", "aria-roledescription": "chart",
      "aria-label": `${spec.label}. ${instructions}`}, canvas);
    const legend = element("div", {class: "legend"});
    const said = element("output", {class: "note"}, instructions);
    figure.replaceChildren(legend, plane, said);
    figure.classList.toggle("narrow", Boolean(view.narrow));
    const chart = echarts.init(canvas, null, {renderer: "svg"});
    chart.setOption(optionOf(view));
    const keys = view.keys.map((key, at) => keyOf(key, at, chart))
      .filter((key, at) => !view.keys[at].unused);
    if (keys.length > 1) legend.append(...keys);
    listen(view, plane, chart, (text) => { said.textContent = text; });
    const size = new ResizeObserver(() => chart.resize());
    size.observe(canvas);
    drawn.set(figure, () => {
      size.disconnect();
      chart.dispose();
    });
  };
})();

// The charts of a page stand in one block of JSON, in the order of figures.
{
  const block = document.getElementById("charts");
  const charts = block ? JSON.parse(block.textContent) : [];
  charts.forEach((spec, at) =>
    drawChart(document.querySelector(`figure[data-chart="${at}"]`), spec));
}
