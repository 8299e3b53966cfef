// Lets readers zoom and move the timelines of a page along their time.
for (const chart of document.querySelectorAll(".timeline")) {
  const svg = chart.querySelector("svg");
  const note = chart.querySelector(".window");
  const ticks = [...chart.querySelectorAll(".ticks span")];
  const box = svg.viewBox.baseVal;
  const all = box.width;
  const end = Number(chart.dataset.end);
  const show = (x, width) => {
    box.width = Math.min(all, Math.max(all / 1e5, width));
    box.x = Math.min(all - box.width, Math.max(0, x));
    const at = (place) => ((place / all) * end).toPrecision(6) * 1;
    ticks.forEach((tick, i) => {
      tick.textContent = at(box.x + (box.width * i) / (ticks.length - 1));
    });
    note.textContent =
      `${at(box.x)} to ${at(box.x + box.width)} ${chart.dataset.unit}`;
  };
  const zoom = (factor, middle) =>
    show(middle - (middle - box.x) * factor, box.width * factor);
  const placeOf = (event) => {
    const area = svg.getBoundingClientRect();
    return box.x + ((event.clientX - area.left) / area.width) * box.width;
  };
  svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, placeOf(event));
  }, { passive: false });
  let held = null;
  svg.addEventListener("pointerdown", (event) => {
    held = placeOf(event);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener("pointermove", (event) => {
    if (held !== null) show(box.x + held - placeOf(event), box.width);
  });
  svg.addEventListener("pointerup", () => { held = null; });
  svg.addEventListener("keydown", (event) => {
    const middle = box.x + box.width / 2;
    const moves = {
      "+": () => zoom(0.5, middle),
      "-": () => zoom(2, middle),
      "0": () => show(0, all),
      "ArrowLeft": () => show(box.x - box.width / 4, box.width),
      "ArrowRight": () => show(box.x + box.width / 4, box.width),
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    moves[event.key]();
  });
}
