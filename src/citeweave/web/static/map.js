// The map of papers: one dot a paper, drawn on a canvas because there may be tens of thousands. The same moves
// as in the network; a click on a dot opens its paper. Topics in the legend dim all others.
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
    const answer = await fetch(this.frame.dataset.map);
    if (!answer.ok) return;
    Object.assign(this, await answer.json());
    this.colours();
    this.fit();
    new ResizeObserver(() => this.fit()).observe(this.frame);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.colours(); this.draw(); });
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-0.5, Math.min(0.5, -event.deltaY * 0.002))), event.offsetX, event.offsetY);
    }, { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => {
      this.pointers.set(event.pointerId, event);
      this.moved = false;
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerup", (event) => {
      this.pointers.delete(event.pointerId);
      this.frame.classList.remove("dragging");
      const near = this.moved ? -1 : this.nearest(event.offsetX, event.offsetY);
      if (near >= 0) location.assign(`/papers/${this.document[near]}`);
    });
    this.canvas.addEventListener("pointercancel", (event) => this.pointers.delete(event.pointerId));
    this.canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    this.frame.addEventListener("keydown", (event) => this.key(event));
    const act = { in: () => this.zoom(1.4), out: () => this.zoom(1 / 1.4), all: () => this.fit() };
    for (const button of this.frame.querySelectorAll("[data-act]")) {
      button.addEventListener("click", () => act[button.dataset.act]());
    }
    for (const item of document.querySelectorAll("[data-topic]")) {
      const light = (topic) => { this.only = topic; this.draw(); };
      item.addEventListener("mouseenter", () => light(Number(item.dataset.topic)));
      item.addEventListener("mouseleave", () => light(null));
      item.addEventListener("focusin", () => light(Number(item.dataset.topic)));
      item.addEventListener("focusout", () => light(null));
    }
    this.frame.dataset.ready = "true";
  }

  // The style sheet knows the colours; a hidden element of each class tells them.
  colours() {
    const probe = document.createElement("span");
    this.frame.append(probe);
    this.colour = [];
    for (let slot = 0; slot < 24; slot += 1) {
      probe.className = `topic-${slot}`;
      this.colour.push(getComputedStyle(probe).getPropertyValue("--topic").trim());
    }
    probe.remove();
    this.ink = getComputedStyle(this.frame).getPropertyValue("--ink").trim();
    this.ground = getComputedStyle(this.frame).getPropertyValue("--surface").trim();
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
    const margin = 36;
    this.scale = Math.min((width - 2 * margin) / (right - left || 1), (height - 2 * margin) / (bottom - top || 1));
    this.least = this.scale / 2;
    this.offset = [width / 2 - this.scale * (left + right) / 2, height / 2 - this.scale * (top + bottom) / 2];
    this.draw();
  }

  draw() {
    const { pen, ratio } = this;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    // papers stand about 9 units apart: dots that nearly touch
    const size = Math.min(10, Math.max(0.9, 3.4 * this.scale));
    for (let i = 0; i < this.x.length; i += 1) {
      const dim = this.only !== null && this.topic[i] !== this.only;
      pen.globalAlpha = dim ? 0.06 : 0.7;
      pen.fillStyle = this.colour[this.topic[i] % 24];
      pen.beginPath();
      pen.arc(this.offset[0] + this.scale * this.x[i], this.offset[1] + this.scale * this.y[i], size, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    pen.font = `600 ${this.frame.clientWidth < 600 ? 11 : 13}px Inter, system-ui, sans-serif`;
    pen.textAlign = "center";
    pen.lineWidth = 4;
    pen.lineJoin = "round";
    const taken = [];
    for (const label of this.labels) {
      const centre = this.offset[0] + this.scale * label.x;
      const y = this.offset[1] + this.scale * label.y;
      // a name that would cover another one is shortened, and else waits until there is room
      for (const text of [label.text, label.text.split(",")[0]]) {
        const half = pen.measureText(text).width / 2 + 4;
        const inside = centre > 0 && centre < this.frame.clientWidth;
        const x = inside ? Math.min(Math.max(centre, half), this.frame.clientWidth - half) : centre;
        if (taken.some((box) => Math.abs(box.x - x) < box.half + half && Math.abs(box.y - y) < 18)) continue;
        taken.push({ x, y, half });
        pen.strokeStyle = this.ground;
        pen.fillStyle = this.ink;
        pen.strokeText(text, x, y);
        pen.fillText(text, x, y);
        break;
      }
    }
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

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (before) {
      const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
      if (!this.moved && Math.hypot(dx, dy) < 4) return;
      this.moved = true;
      this.tip.hidden = true;
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
    const near = this.nearest(event.offsetX, event.offsetY);
    this.canvas.style.cursor = near >= 0 ? "pointer" : "";
    this.tip.hidden = near < 0;
    if (near < 0) return;
    this.tip.textContent = this.title[near];
    const right = event.offsetX > this.frame.clientWidth - 240;
    this.tip.style.left = right ? "auto" : `${event.offsetX + 14}px`;
    this.tip.style.right = right ? `${this.frame.clientWidth - event.offsetX + 14}px` : "auto";
    this.tip.style.top = `${event.offsetY + 14}px`;
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
