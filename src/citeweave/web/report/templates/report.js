// Pan and zoom of pictures. Without this script they are shown whole.
"use strict";
for (const picture of document.querySelectorAll(".picture[data-zoom]")) {
  const svg = picture.querySelector("svg");
  const box = svg && svg.viewBox.baseVal;
  if (!box || !box.width) continue;
  const whole = { x: box.x, y: box.y, width: box.width, height: box.height };
  const closest = 8;
  let view = { ...whole };
  let grip = null;

  const show = () => {
    view.x = Math.min(Math.max(view.x, whole.x), whole.x + whole.width - view.width);
    view.y = Math.min(Math.max(view.y, whole.y), whole.y + whole.height - view.height);
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
    picture.classList.toggle("zoomed", view.width < whole.width);
  };
  // zoom so that the point at (u, v), shares of the picture, stays where it is
  const zoom = (factor, u = 0.5, v = 0.5) => {
    const scale = Math.min(1, Math.max(1 / closest, view.width * factor / whole.width));
    const width = whole.width * scale, height = whole.height * scale;
    view = { x: view.x + u * (view.width - width), y: view.y + v * (view.height - height), width, height };
    show();
  };
  const move = (u, v) => { view.x += u * view.width; view.y += v * view.height; show(); };
  const reset = () => { view = { ...whole }; show(); };
  // the drawing is centred in its element, so the two may differ in shape
  const share = (event) => {
    const matrix = svg.getScreenCTM();
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    return [(point.x - view.x) / view.width, (point.y - view.y) / view.height];
  };

  const tools = document.createElement("div");
  tools.className = "tools";
  const name = picture.getAttribute("aria-label") || "picture";
  for (const [text, label, act] of [
    ["+", `Zoom in: ${name}`, () => zoom(0.7)],
    ["−", `Zoom out: ${name}`, () => zoom(1 / 0.7)],
    ["Whole picture", `Show all: ${name}`, reset],
  ]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = text;
    button.setAttribute("aria-label", label);
    button.addEventListener("click", act);
    tools.append(button);
  }
  const hint = document.createElement("span");
  hint.className = "soft";
  hint.textContent = "Drag to move; arrow keys, + and − work too.";
  tools.append(hint);
  picture.before(tools);
  picture.classList.add("live");

  const keys = {
    "+": () => zoom(0.7), "=": () => zoom(0.7), "-": () => zoom(1 / 0.7), "0": reset,
    ArrowLeft: () => move(-0.15, 0), ArrowRight: () => move(0.15, 0),
    ArrowUp: () => move(0, -0.15), ArrowDown: () => move(0, 0.15),
  };
  picture.addEventListener("keydown", (event) => {
    const arrow = event.key.startsWith("Arrow");
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrow && view.width === whole.width) return;  // nothing to move: let the page scroll
    event.preventDefault();
    keys[event.key]();
  });
  // the wheel scrolls the page unless Ctrl is held, as on maps
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.85 : 1 / 0.85, ...share(event));
  }, { passive: false });
  picture.addEventListener("dblclick", (event) => zoom(0.5, ...share(event)));
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || view.width === whole.width) return;
    grip = { x: event.clientX, y: event.clientY };
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    if (!grip) return;
    const scale = 1 / svg.getScreenCTM().a;
    view.x -= (event.clientX - grip.x) * scale;
    view.y -= (event.clientY - grip.y) * scale;
    grip = { x: event.clientX, y: event.clientY };
    show();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    picture.addEventListener(end, () => { grip = null; });
  }
  window.addEventListener("beforeprint", reset);
}
