// The app: uploads files in pieces and updates the pages of running tasks.
"use strict";

const INTENT = { "X-Citeweave": "1" };

async function call(path, options) {
  let answer;
  try {
    answer = await fetch(path, { method: "POST", ...options, headers: { ...INTENT, ...options.headers } });
  } catch {
    throw new Error("The app is not responding. Is citeweave still running?");
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(content.error || `The app answered with an error (${answer.status}).`);
  return content;
}

function readableSize(bytes) {
  const units = ["B", "kB", "MB", "GB"];
  let place = 0;
  while (bytes >= 1000 && place < units.length - 1) { bytes /= 1000; place += 1; }
  return `${place && bytes < 10 ? bytes.toFixed(1) : Math.round(bytes)} ${units[place]}`;
}

class Upload {
  constructor(form) {
    this.form = form;
    this.files = [];
    this.input = form.querySelector("#files");
    this.drop = form.querySelector("#drop");
    this.list = form.querySelector("#chosen");
    this.title = form.querySelector("#title");
    this.button = form.querySelector("#start");
    this.problem = form.querySelector("#problem");
    this.bar = form.querySelector("#bar");
    this.sent = form.querySelector("#sent");
    this.sending = form.querySelector("#sending");
    this.piece = Number(form.dataset.piece);
    this.input.addEventListener("change", () => { this.add(this.input.files); this.input.value = ""; });
    for (const name of ["dragenter", "dragover"]) {
      this.drop.addEventListener(name, (event) => { event.preventDefault(); this.drop.classList.add("over"); });
    }
    for (const name of ["dragleave", "drop"]) {
      this.drop.addEventListener(name, () => this.drop.classList.remove("over"));
    }
    this.drop.addEventListener("drop", (event) => { event.preventDefault(); this.add(event.dataTransfer.files); });
    form.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
  }

  add(files) {
    for (const file of files) {
      if (!this.files.some((other) => other.name === file.name && other.size === file.size)) this.files.push(file);
    }
    this.show();
  }

  show() {
    this.list.replaceChildren(...this.files.map((file, index) => {
      const item = document.createElement("li");
      const name = document.createElement("span");
      name.className = "file";
      name.textContent = file.name;
      const size = document.createElement("span");
      size.className = "soft number small";
      size.textContent = readableSize(file.size);
      const remove = document.createElement("button");
      remove.type = "button";
      remove.textContent = "Remove";
      remove.setAttribute("aria-label", `Remove ${file.name}`);
      remove.addEventListener("click", () => { this.files.splice(index, 1); this.show(); this.input.focus(); });
      item.append(name, size, remove);
      return item;
    }));
    this.button.disabled = this.files.length === 0;
    const first = this.files[0];
    if (first && this.title) this.title.placeholder = first.name.replace(/\..*$/, "");
    this.complain(this.files.length > Number(this.form.dataset.mostFiles)
      ? `At most ${this.form.dataset.mostFiles} files at a time. Pack them into one archive (.zip).` : "");
  }

  complain(text) {
    this.problem.textContent = text;
    this.problem.hidden = !text;
    if (text) this.button.disabled = true;
  }

  async send() {
    if (this.button.disabled) return;
    this.complain("");
    this.button.disabled = true;
    this.sending.hidden = false;
    const empty = this.files.find((file) => file.size === 0);
    try {
      if (empty) throw new Error(`“${empty.name}” is empty. Remove it and try again.`);
      const total = this.files.reduce((sum, file) => sum + file.size, 0);
      const path = await this.project();
      let before = 0;
      for (const file of this.files) {
        await this.sendFile(path, file, (now) => this.tell(file.name, before + now, total));
        before += file.size;
      }
      this.sent.textContent = "All files uploaded. Starting the import …";
      const begun = await call(`/api${path}/import`, { body: "" });
      location.assign(begun.path);
    } catch (error) {
      this.sending.hidden = true;
      this.complain(error.message);
      this.button.disabled = false;
    }
  }

  // A second attempt uses the project that the first one created.
  async project() {
    if (!this.form.dataset.project) {
      const title = this.title.value.trim() || this.title.placeholder || "Project";
      const made = await call("/api/projects", { body: JSON.stringify({ title }) });
      this.form.dataset.project = made.path;
    }
    return this.form.dataset.project;
  }

  async sendFile(path, file, tell) {
    for (let offset = 0; offset < file.size; offset += this.piece) {
      const query = new URLSearchParams({ name: file.name, offset: String(offset), total: String(file.size) });
      const piece = file.slice(offset, offset + this.piece);
      await call(`/api${path}/files?${query}`, { body: piece, headers: { "Content-Type": "application/octet-stream" } });
      tell(Math.min(offset + this.piece, file.size));
    }
  }

  tell(name, done, total) {
    this.bar.value = total ? done / total : 1;
    this.sent.textContent = `${name}: ${readableSize(done)} of ${readableSize(total)}`;
  }
}

// A running task: fetches the part rendered by the server, and reloads the page when the task ends.
class Live {
  constructor(root) {
    this.address = root.dataset.live;
    this.place = root.querySelector(".live");
    this.lost = root.querySelector(".lost");
    this.status = root.querySelector("[role=status]");
    this.stage = "";
    this.failures = 0;
    this.later();
    // a tab that was in the background is out of date
    document.addEventListener("visibilitychange", () => { if (!document.hidden) this.look(); });
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), document.hidden ? 5000 : 1200);
  }

  async look() {
    clearTimeout(this.timer);
    try {
      const answer = await fetch(this.address);
      if (!answer.ok) throw new Error(String(answer.status));
      const content = await answer.json();
      this.failures = 0;
      this.lost.hidden = true;
      if (!content.active) return location.reload();
      if (this.place) this.place.innerHTML = content.html;
      this.announce();
    } catch {
      this.failures += 1;
      this.lost.hidden = this.failures < 3;
    }
    return this.later();
  }

  // Announce a new stage to screen readers, but not every number.
  announce() {
    const stage = this.place ? this.place.querySelector(".stage strong") : null;
    if (this.status && stage && stage.textContent !== this.stage) {
      this.stage = stage.textContent;
      this.status.textContent = this.stage;
    }
  }
}

const upload = document.querySelector("#upload");
if (upload) new Upload(upload);
for (const root of document.querySelectorAll("[data-live]")) new Live(root);
