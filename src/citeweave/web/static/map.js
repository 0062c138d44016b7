// The map of papers: one dot per paper, on a canvas because there may be tens of thousands. Panning and zooming
// work as in the network; a click on a dot opens its paper. Pointing at a topic in the legend dims all others. Every topic
// is labelled at every zoom level: by its name if there is room, otherwise by its number in the legend.
"use strict";

class PaperMap {
  constructor(frame) {
    this.frame = frame;
    this.canvas = frame.querySelector("canvas");
    this.tip = frame.querySelector(".tip");
    this.pen = this.canvas.getContext("2d");
    this.scale = 1;
    this.offset = [0, 0];
    this.pointers = new Map();
    this.only = null;
    this.load();
  }

  async load() {
    const inside = this.frame.querySelector("script[type='application/json']");
    if (inside) Object.assign(this, JSON.parse(inside.textContent));
    else {
      const answer = await fetch(this.frame.dataset.map);
      if (!answer.ok) return;
      Object.assign(this, await answer.json());
    }
    addTools(this.frame, { in: () => this.zoom(1.4), out: () => this.zoom(1 / 1.4), all: () => this.fit() });
    this.theme();
    this.fit();
    new ResizeObserver(() => this.fit()).observe(this.frame);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.theme(); this.draw(); });
    this.canvas.addEventListener("wheel", (event) => {
      if (scrollsPage(this.frame, event)) return;
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, -event.deltaY * 0.002))), event.offsetX, event.offsetY);
    }, { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => {
      this.tip.hidden = true;
      this.pointers.set(event.pointerId, event);
      this.moved = false;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => {
      this.pointers.delete(event.pointerId);
      this.frame.classList.remove("dragging");
      const near = this.moved ? -1 : this.nearest(event.offsetX, event.offsetY);
      if (near < 0) return;
      if (this.frame.dataset.papers) location.assign(`${this.frame.dataset.papers}${near}`);
      else this.tell(near, event.offsetX, event.offsetY);
    });
    this.canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    const hide = () => { this.tip.hidden = true; };
    this.canvas.addEventListener("pointerleave", hide);
    this.frame.addEventListener("blur", hide);
    for (const name of ["scroll", "blur"]) window.addEventListener(name, hide, { passive: true });
    document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
    this.frame.addEventListener("keydown", (event) => this.key(event));
    for (const item of document.querySelectorAll("[data-topic]")) {
      const light = (topic) => { this.only = topic; this.draw(); };
      const own = Number(item.dataset.topic);
      item.addEventListener("mouseenter", () => light(own));
      item.addEventListener("mouseleave", () => light(null));
      item.addEventListener("focusin", () => light(own));
      item.addEventListener("focusout", () => light(null));
    }
    this.frame.dataset.ready = "true";
  }

  theme() {
    const style = getComputedStyle(this.frame);
    this.ink = style.getPropertyValue("--ink").trim();
    this.ground = style.getPropertyValue("--surface").trim();
  }

  fit() {
    const ratio = window.devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.frame;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.ratio = ratio;
    const span = (values) => values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);
    const [left, right] = span(this.x);
    const [top, bottom] = span(this.y);
    const margin = width < 600 ? 14 : 28;
    this.scale = Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (bottom - top || 1));
    this.least = this.scale / 2;
    this.whole = this.scale;
    this.offset = [width / 2 - this.scale * (left + right) / 2, height / 2 - this.scale * (top + bottom) / 2];
    this.draw();
  }

  draw() {
    const { pen, ratio, frame } = this;
    this.tip.hidden = true;
    frame.classList.toggle("zoomed", this.scale > this.whole * 1.001);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const [wide, high] = [frame.clientWidth, frame.clientHeight];
    for (let i = 0; i < this.x.length; i += 1) {
      const x = this.offset[0] + this.scale * this.x[i];
      const y = this.offset[1] + this.scale * this.y[i];
      if (x < -20 || y < -20 || x > wide + 20 || y > high + 20) continue;
      pen.globalAlpha = this.only !== null && this.topic[i] !== this.only ? 0.08 : 0.85;
      pen.fillStyle = this.colours[this.topic[i]];
      pen.beginPath();
      pen.arc(x, y, Math.min(12, Math.max(0.8, 0.5 * this.size[i] * this.scale)), 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    this.name();
  }

  // Place a number for every visible island; then, largest first, replace it by the name if that overlaps no other label.
  name() {
    const { pen, frame } = this;
    const [wide, high] = [frame.clientWidth, frame.clientHeight];
    const size = wide < 600 ? 11 : 13;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 4;
    pen.lineJoin = "round";
    const placed = [];
    const tools = frame.querySelector(".tools");
    const taken = tools ? [{ x: wide - tools.offsetWidth / 2 - 12, y: tools.offsetHeight / 2 + 12, half: tools.offsetWidth / 2 + 2, tall: tools.offsetHeight / 2 + 2 }] : [];
    const free = (box, but) => [...taken, ...placed].every((one) => one === but
      || Math.abs(one.x - box.x) >= one.half + box.half || Math.abs(one.y - box.y) >= one.tall + box.tall);
    const inside = (box) => {
      box.x = Math.min(Math.max(box.x, box.half + 2), wide - box.half - 2);
      box.y = Math.min(Math.max(box.y, box.tall + 2), high - box.tall - 2);
      return box;
    };
    const boxed = (label, lines, letters, x, y) => {
      pen.font = `600 ${letters}px Inter, system-ui, sans-serif`;
      const half = Math.max(...lines.map((line) => pen.measureText(line).width)) / 2 + 3;
      return inside({ topic: label.topic, lines, letters, half, tall: lines.length * letters * 0.6 + 1, x, y });
    };
    const seen = this.labels.filter((label) => {
      const [x, y] = [this.offset[0] + this.scale * label.x, this.offset[1] + this.scale * label.y];
      const reach = this.scale * label.radius;
      return x + reach > 0 && x - reach < wide && y + reach > 0 && y - reach < high;
    }).sort((a, b) => b.radius - a.radius);
    for (const label of seen) {
      const [x, y] = [this.offset[0] + this.scale * label.x, this.offset[1] + this.scale * label.y];
      const box = boxed(label, [String(label.topic)], seen.length > 100 && wide < 600 ? size - 3 : size - 1, x, y);
      // a number that overlaps another one moves outwards along a spiral until it is free
      for (let step = 0; step < 400 && !free(box); step += 1) {
        Object.assign(box, { x: x + step * 0.4 * Math.cos(step * 2.4), y: y + step * 0.4 * Math.sin(step * 2.4) });
        inside(box);
      }
      if (free(box)) placed.push(box);
    }
    // one phrase for as many topics as possible before any gets a second or third one
    for (const most of [1, 2, 3]) {
      for (const box of placed) {
        const label = seen.find((one) => one.topic === box.topic);
        const lines = label.text.split(", ").slice(0, most);
        if (lines.length < most || (most > 1 && box.lines.length < most - 1)) continue;
        if (most > 1 && box.lines[0] === String(box.topic)) continue;
        const [x, y] = [this.offset[0] + this.scale * label.x, this.offset[1] + this.scale * label.y];
        const reach = Math.max(this.scale * label.radius, size);
        for (const shift of [0, -0.5, 0.5, -0.9, 0.9]) {
          const shown = lines.map((line, i) => (i < lines.length - 1 ? `${line},` : line));
          const bigger = boxed(label, shown, size, x, y + shift * reach);
          if (bigger.half > Math.max(wide / 5, 70) || !free(bigger, box)) continue;
          if (most > 1 && bigger.tall > 1.2 * reach) continue; // short names for small islands
          Object.assign(box, bigger);
          break;
        }
      }
    }
    for (const box of placed) {
      const dim = this.only !== null && box.topic !== this.only;
      pen.globalAlpha = dim ? 0.25 : 1;
      pen.font = `600 ${box.letters}px Inter, system-ui, sans-serif`;
      pen.strokeStyle = this.ground;
      pen.fillStyle = this.ink;
      box.lines.forEach((line, i) => {
        const y = box.y + (i - (box.lines.length - 1) / 2) * box.letters * 1.2;
        pen.strokeText(line, box.x, y);
        pen.fillText(line, box.x, y);
      });
    }
    pen.globalAlpha = 1;
    frame.placed = placed;
  }

  zoom(factor, x = this.frame.clientWidth / 2, y = this.frame.clientHeight / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.least), this.least * 200);
    const grown = scale / this.scale;
    this.offset = [x - (x - this.offset[0]) * grown, y - (y - this.offset[1]) * grown];
    this.scale = scale;
    this.draw();
  }

  nearest(x, y) {
    let best = -1;
    let close = 144;
    for (let i = 0; i < this.x.length; i += 1) {
      const dx = this.offset[0] + this.scale * this.x[i] - x;
      const dy = this.offset[1] + this.scale * this.y[i] - y;
      const apart = dx * dx + dy * dy;
      if (apart < close) { close = apart; best = i; }
    }
    return best;
  }

  tell(paper, x, y) {
    this.tip.hidden = paper < 0 || !this.title[paper];
    if (this.tip.hidden) return;
    this.tip.textContent = this.title[paper];
    const right = x > this.frame.clientWidth / 2;
    this.tip.style.left = right ? "auto" : `${x + 14}px`;
    this.tip.style.right = right ? `${this.frame.clientWidth - x + 14}px` : "auto";
    this.tip.style.top = `${y + 14}px`;
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (before) {
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
      if (!this.moved && Math.hypot(dx, dy) < 4) return;
      this.moved = true;
      this.frame.classList.add("dragging");
      if (this.pointers.size === 2) {
        const [other] = [...this.pointers.values()].filter((one) => one.pointerId !== event.pointerId);
        const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY) || 1;
        this.zoom(apart(event) / apart(before), other.offsetX, other.offsetY);
      } else {
        this.offset = [this.offset[0] + dx, this.offset[1] + dy];
        this.draw();
      }
      this.pointers.set(event.pointerId, event);
      return;
    }
    if (event.pointerType === "touch") return;
    const near = this.nearest(event.offsetX, event.offsetY);
    this.canvas.style.cursor = near >= 0 && this.frame.dataset.papers ? "pointer" : "";
    this.tell(near, event.offsetX, event.offsetY);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (moves[event.key]) {
      this.offset = [this.offset[0] + moves[event.key][0], this.offset[1] + moves[event.key][1]];
      this.draw();
    } else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }
}

for (const frame of document.querySelectorAll("[data-map]")) new PaperMap(frame);
