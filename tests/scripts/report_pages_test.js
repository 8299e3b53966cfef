// What report_pages_test.py asks of a page.

const textOf = (element) => element.textContent.trim();

// Returns the heads and then the rows of the table with this label.
function tableOf(label) {
  const table = [...document.querySelectorAll("table")].find(
    (each) => each.getAttribute("aria-label") === label);
  return table && [...table.rows].map((row) => [...row.cells].map(textOf));
}

function factsOf() {
  return Object.fromEntries([...document.querySelectorAll("dl.facts dt")].map(
    (name) => [textOf(name), textOf(name.nextElementSibling)]));
}

// Returns the charts of a page: what is drawn of each, how many shapes and
// texts that took, what it is called, and the rows of its table if it has one.
function chartsOf() {
  const block = document.getElementById("charts");
  return JSON.parse(block ? block.textContent : "[]").map((spec, at) => {
    const figure = document.querySelector(`figure[data-chart="${at}"]`);
    const plane = figure.querySelector(".plane");
    const details = figure.nextElementSibling;
    const table = details && details.matches("details") &&
      details.querySelector("table");
    return {
      spec, shapes: figure.querySelectorAll("svg path").length,
      texts: figure.querySelectorAll("svg text").length,
      role: plane.getAttribute("role"), label: plane.ariaLabel,
      rows: table ? [...table.tBodies[0].rows].map((row) =>
        [...row.cells].map(textOf)) : null,
      caption: table ? table.ariaLabel : null,
    };
  });
}

// Returns what a chart says below it.
const saidBy = (plane) =>
  textOf(plane.parentElement.querySelector("output"));

// Returns how a table says that it is sorted by a column, and the column.
function columnOf(table, at) {
  return [table.tHead.rows[0].cells[at].getAttribute("aria-sort"),
    [...table.tBodies[0].rows].map((row) => textOf(row.cells[at]))];
}

// Returns where on the page one element begins and another ends, with a margin.
function placeOf(first, last) {
  const edge = (selector, side) =>
    document.querySelector(selector).getBoundingClientRect()[side] +
    window.scrollY;
  return [Math.max(0, edge(first, "top") - 24), edge(last, "bottom") + 24];
}

const start = (element) => element.outerHTML.slice(0, 100);

// Returns the charts that say nothing to those who cannot see them.
function withoutWords() {
  return [...document.querySelectorAll("svg, .plane")].filter((chart) =>
    !chart.closest("[aria-hidden=true]") && !chart.ariaLabel &&
    !chart.querySelector(":scope > title")).map(start);
}

// Returns what makes the page wider than its window.
function wideParts() {
  if (document.documentElement.scrollWidth <= window.innerWidth) return [];
  return [...document.querySelectorAll("main *")].filter((element) =>
    element.getBoundingClientRect().right > window.innerWidth).map(start);
}

// The relative luminance and the contrast of WCAG 2.1.
function luminance([red, green, blue]) {
  const [r, g, b] = [red, green, blue].map((part) => part / 255).map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

// Returns red, green, blue of a colour over another one, or null of one that
// cannot be seen.
function partsOf(colour, below = [255, 255, 255]) {
  const parts = colour.match(/[\d.]+/g)?.map(Number);
  if (!parts || parts[3] === 0) return null;
  const share = parts[3] ?? 1;
  return parts.slice(0, 3).map((part, i) =>
    share * part + (1 - share) * below[i]);
}

// Returns the colour of the last shape of the drawing that lies below `text`.
function shapeBelow(text) {
  const box = text.getBoundingClientRect();
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  const below = [...text.ownerSVGElement.querySelectorAll("rect, circle")]
    .filter((shape) => {
      const area = shape.getBoundingClientRect();
      return area.left <= x && x <= area.right && area.top <= y &&
        y <= area.bottom && shape.compareDocumentPosition(text) &
        Node.DOCUMENT_POSITION_FOLLOWING;
    });
  return below.map((shape) => partsOf(getComputedStyle(shape).fill))
    .filter(Boolean).pop();
}

function backgroundOf(element) {
  if (!element) return [255, 255, 255];
  const below = backgroundOf(element.parentElement);
  return partsOf(getComputedStyle(element).backgroundColor, below) || below;
}

// Returns the texts that stand out too little from what is behind them.
function faintTexts(least) {
  const faint = [];
  for (const element of document.body.querySelectorAll("*")) {
    const says = [...element.childNodes].some((node) =>
      node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!says || !element.checkVisibility() ||
        element.matches("script, title")) continue;
    const is_drawn = element.matches("svg text, svg tspan");
    const style = getComputedStyle(element);
    const ink = partsOf(is_drawn ? style.fill : style.color);
    const paper = (is_drawn && shapeBelow(element)) || backgroundOf(element);
    if (!ink || contrast(ink, paper) < least) {
      faint.push(`${start(element)}: ${ink} on ${paper}`);
    }
  }
  return faint;
}
