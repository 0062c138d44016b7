// The network as an interactive picture: drag the background to pan, wheel or pinch to zoom, drag a node to
// reposition it. Keyboard: Tab moves between nodes, Enter opens one; arrow keys pan, + and - zoom, 0
// shows all. Labels stay readable at every zoom level; as many are shown as fit. Without this script the
// picture is static and its links still work.
"use strict";

const SMALLEST = 11;

// The geometry of the label of a dot, or of a region of the picture: its size, and where its first
// line starts, relative to its size.
function nameOf(node, number) {
  const text = node.querySelector("text");
  if (!text) return null;
  const lines = [...text.querySelectorAll("tspan")];
  const radius = Number(node.querySelector("circle")?.getAttribute("r") || 0);
  const above = Number(lines[0].getAttribute("y")) < 0;
  const turn = 1.25 * (lines.length - 1);
  let place = above ? -0.3 - turn : 0.95;
  if (!radius) place = 0.35 - turn / 2;
  return {
    node, number, text, lines, size: Number(text.getAttribute("font-size")), radius, start: above ? -radius : radius, place,
    across: Number(lines[0].getAttribute("x")) || 0,
    letters: Math.max(...lines.map((line) => line.textContent.length)),
  };
}

class Picture {
  constructor(frame) {
    this.frame = frame;
    this.svg = frame.querySelector("svg");
    this.whole = this.svg.getAttribute("viewBox").split(/\s+/).map(Number);
    this.view = [...this.whole];
    this.pointers = new Map();
    this.node = null;
    this.moved = false;
    this.edges = [...this.svg.querySelectorAll(".cw-edge")];
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel"]) {
      this.svg.addEventListener(name, (event) => this.up(event));
    }
    this.svg.addEventListener("click", (event) => { if (this.moved) event.preventDefault(); }, true);
    this.svg.addEventListener("dragstart", (event) => event.preventDefault());
    frame.addEventListener("keydown", (event) => this.key(event));
    for (const node of this.svg.querySelectorAll(".cw-node:not(.cw-rule)")) {
      node.addEventListener("mouseenter", () => this.light(node));
      node.addEventListener("mouseleave", () => this.light(null));
    }
    // listen on the frame: an SVG element with a focus listener would become focusable
    frame.addEventListener("focusin", (event) => {
      const node = event.target.closest(".cw-node");
      this.light(node);
      if (node) this.reveal(node);
    });
    frame.addEventListener("focusout", () => this.light(null));
    this.names = [...this.svg.querySelectorAll(".cw-dot, .cw-rule")].map(nameOf).filter(Boolean);
    // regions of the picture are always labelled
    this.names.sort((one, other) => !other.radius - !one.radius || other.size - one.size || other.radius - one.radius);
    if (this.names.length) new ResizeObserver(() => this.name()).observe(frame);
    // on a small screen the whole picture would be too small to read: start at its centre, with labels at full size
    if (frame.clientWidth < 600 && !this.names.length) {
      this.zoom(frame.clientWidth / Math.max(this.whole[2], frame.clientWidth));
    }
    const named = location.hash ? document.getElementById(location.hash.slice(1)) : null;
    if (named?.classList.contains("cw-node")) this.show(named);
    addTools(frame, { in: () => this.zoom(1 / 1.4), out: () => this.zoom(1.4), all: () => this.reset() });
  }

  apply() {
    this.frame.classList.toggle("zoomed", this.view[2] < this.whole[2]);
    this.svg.setAttribute("viewBox", this.view.map((value) => value.toFixed(2)).join(" "));
    this.name();
  }

  // Draw the labels of dots at least SMALLEST pixels high, largest dots first. A label that would cover another
  // label, or lie under a dot drawn later, is hidden until there is room or its dot is pointed at.
  name() {
    const scale = this.svg.getScreenCTM()?.a;
    if (!scale) return;
    const [left, right] = this.edgesInSight();
    const taken = [];
    const dots = this.names.map(({ node, number, radius }) => {
      const [x, y, half] = [Number(node.dataset.x), Number(node.dataset.y), 0.7 * radius];
      return [x - half, y - half, x + half, y + half, number];
    });
    const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
    for (const { node, number, text, lines, size, radius, start, place, across, letters } of this.names) {
      const high = Math.max(size, SMALLEST / scale);
      const first = start + place * high;
      const [x, y] = [Number(node.dataset.x) + across, Number(node.dataset.y) + first - 0.9 * high];
      const half = 0.28 * high * letters;
      // a label that would cross the edge moves inwards; its dot does not move
      const room = Math.max(0, Math.min(half + 0.6 * high, (right - left) / 2));
      const inward = x < left || x > right ? 0 : Math.max(left + room - x, 0) + Math.min(right - room - x, 0);
      const box = [x + inward - half, y, x + inward + half, y + 1.25 * high * lines.length];
      const covered = () => taken.some((one) => meet(box, one)) || dots.some((one) => one[4] > number && meet(box, one));
      const free = !radius || !covered();
      node.classList.toggle("unnamed", !free);
      if (free) taken.push(box);
      text.setAttribute("font-size", high.toFixed(2));
      text.setAttribute("stroke-width", (high / 5).toFixed(2));
      lines.forEach((line, number) => {
        line.setAttribute("x", (across + inward).toFixed(1));
        line.setAttribute("y", (first + 1.25 * high * number).toFixed(1));
      });
    }
  }

  // The left and right edges of the picture in its own units; the frame may show more than the view box.
  edgesInSight() {
    const { left, right, top } = this.svg.getBoundingClientRect();
    const back = this.svg.getScreenCTM().inverse();
    return [left, right].map((x) => new DOMPoint(x, top).matrixTransform(back).x);
  }

  reset() {
    this.view = [...this.whole];
    this.apply();
  }

  // Zoom so that the point under (x, y), in the picture's own units, stays where it is.
  zoom(factor, x = this.view[0] + this.view[2] / 2, y = this.view[1] + this.view[3] / 2) {
    const width = Math.min(Math.max(this.view[2] * factor, this.whole[2] / 20), this.whole[2] * 2);
    const scale = width / this.view[2];
    this.view = [x - (x - this.view[0]) * scale, y - (y - this.view[1]) * scale, width, this.view[3] * scale];
    this.apply();
  }

  point(event) {
    const place = new DOMPoint(event.clientX, event.clientY);
    return place.matrixTransform(this.svg.getScreenCTM().inverse());
  }

  wheel(event) {
    if (scrollsPage(this.frame, event)) return;
    event.preventDefault();
    const at = this.point(event);
    this.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.002))), at.x, at.y);
  }

  down(event) {
    if (event.button !== 0) return;
    this.pointers.set(event.pointerId, event);
    this.moved = false;
    this.node = this.pointers.size === 1 ? event.target.closest(".cw-node") : null;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    if (!this.moved) {
      if (Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) < 4) return;
      this.moved = true;
      this.svg.setPointerCapture(event.pointerId);
      this.frame.classList.add("dragging");
    }
    const from = this.point(before);
    const to = this.point(event);
    if (this.pointers.size === 2) this.pinch(event);
    else if (this.node) this.shift(this.node, to.x - from.x, to.y - from.y);
    else {
      this.view[0] -= to.x - from.x;
      this.view[1] -= to.y - from.y;
      this.apply();
    }
    this.pointers.set(event.pointerId, event);
  }

  pinch(event) {
    const [other] = [...this.pointers.values()].filter((one) => one.pointerId !== event.pointerId);
    const before = this.pointers.get(event.pointerId);
    const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
    const at = this.point(other);
    this.zoom(apart(before) / apart(event), at.x, at.y);
  }

  up(event) {
    this.pointers.delete(event.pointerId);
    this.node = null;
    this.frame.classList.remove("dragging");
  }

  shift(node, dx, dy) {
    const x = Number(node.dataset.x) + dx;
    const y = Number(node.dataset.y) + dy;
    node.dataset.x = String(x);
    node.dataset.y = String(y);
    node.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    for (const edge of this.edges) {
      if (edge.dataset.source === node.id || edge.dataset.target === node.id) this.draw(edge);
    }
  }

  // A straight line from centre to centre, or a curved arrow from border to border, as the server draws it.
  draw(edge) {
    const [source, target] = [edge.dataset.source, edge.dataset.target].map((id) => document.getElementById(id));
    const place = (node) => [Number(node.dataset.x), Number(node.dataset.y)];
    const [[x1, y1], [x2, y2]] = [place(source), place(target)];
    const [path, head] = [edge.querySelector("path"), edge.querySelector("polygon")];
    if (!head) {
      path.setAttribute("d", `M${x1} ${y1}L${x2} ${y2}`);
      return;
    }
    const width = Number(edge.dataset.width);
    const handle = [(x1 + x2) / 2 + 0.28 * (y2 - y1), (y1 + y2) / 2 - 0.28 * (x2 - x1)];
    const begin = this.border(source, [x1, y1], handle, 0);
    const end = this.border(target, [x2, y2], handle, 1 + 0.2 * width);
    const length = Math.hypot(end[0] - handle[0], end[1] - handle[1]) || 1;
    const [dx, dy] = [(end[0] - handle[0]) / length, (end[1] - handle[1]) / length];
    const [long, half] = [5 + 1.5 * width, 2.5 + 0.9 * width];
    const [bx, by] = [end[0] - dx * long, end[1] - dy * long];
    const corners = [end, [bx - dy * half, by + dx * half], [bx + dy * half, by - dx * half]];
    head.setAttribute("points", corners.map((corner) => corner.map((v) => v.toFixed(1)).join(",")).join(" "));
    const shaft = [end[0] - dx * long * 0.7, end[1] - dy * long * 0.7];
    const [from, bend, to] = [begin, handle, shaft].map((point) => point.map((v) => v.toFixed(1)).join(" "));
    path.setAttribute("d", `M${from}Q${bend} ${to}`);
  }

  // The point where a line from the centre of a node crosses its border.
  border(node, [x, y], [tx, ty], gap) {
    const box = node.querySelector("rect");
    const round = node.querySelector("ellipse");
    const dot = node.querySelector("circle");
    const half = (shape, name) => Number(shape.getAttribute(name)) / (shape === box ? 2 : 1);
    const wide = dot ? half(dot, "r") : half(box || round, box ? "width" : "rx");
    const high = dot ? half(dot, "r") : half(box || round, box ? "height" : "ry");
    const length = Math.hypot(tx - x, ty - y) || 1;
    const [dx, dy] = [(tx - x) / length, (ty - y) / length];
    const reach = box ? Math.min(wide / Math.abs(dx), high / Math.abs(dy)) : 1 / Math.hypot(dx / wide, dy / high);
    const far = Math.min(reach + gap, length);
    return [x + dx * far, y + dy * far];
  }

  light(node) {
    this.svg.classList.toggle("focus", Boolean(node));
    for (const one of this.svg.querySelectorAll(".lit")) one.classList.remove("lit");
    if (!node) return;
    node.classList.add("lit");
    for (const edge of this.edges) {
      const { source, target } = edge.dataset;
      if (source !== node.id && target !== node.id) continue;
      edge.classList.add("lit");
      document.getElementById(source === node.id ? target : source)?.classList.add("lit");
    }
  }

  // A node that receives the focus through Tab may lie outside the visible area.
  reveal(node) {
    const [x, y, width, height] = this.view;
    const [nx, ny] = [Number(node.dataset.x), Number(node.dataset.y)];
    if (nx < x || nx > x + width || ny < y || ny > y + height) {
      this.view = [nx - width / 2, ny - height / 2, width, height];
      this.apply();
    }
  }

  // A URL that ends in #topic-3 shows that topic: zoomed in, centred, with its neighbours highlighted.
  show(node) {
    const width = Math.min(this.view[2], this.whole[2] / 2);
    const height = width * (this.view[3] / this.view[2]);
    this.view = [Number(node.dataset.x) - width / 2, Number(node.dataset.y) - height / 2, width, height];
    this.apply();
    this.light(node);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = this.view[2] / 10;
    const moves = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] };
    if (moves[event.key]) {
      this.view[0] += moves[event.key][0];
      this.view[1] += moves[event.key][1];
      this.apply();
    } else if (event.key === "+" || event.key === "=") this.zoom(1 / 1.25);
    else if (event.key === "-") this.zoom(1.25);
    else if (event.key === "0") this.reset();
    else return;
    event.preventDefault();
  }
}

for (const frame of document.querySelectorAll("[data-picture]")) new Picture(frame);
