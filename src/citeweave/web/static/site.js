// On every page: the menu for narrow screens, the search box, and the busy state of forms.
"use strict";

document.documentElement.classList.add("js");

const menu = document.querySelector(".menu-button");
const nav = document.querySelector(".site-nav");
if (menu && nav) {
  menu.addEventListener("click", () => {
    const open = nav.classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });
}

for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", () => {
    const button = form.querySelector("button[type=submit]");
    if (!button) return;
    button.dataset.label = button.textContent;
    button.textContent = form.dataset.busy;
    button.setAttribute("aria-disabled", "true");
  });
}
// A page restored from the back/forward cache is no longer busy.
window.addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button[data-label]")) {
    button.textContent = button.dataset.label;
    button.removeAttribute("aria-disabled");
  }
});

// A combobox with a list below it, following the ARIA practices: the input keeps the focus, arrows move
// the chosen option, Enter opens it, Escape closes the list.
class SearchBox {
  constructor(root) {
    this.input = root.querySelector("input");
    this.list = root.querySelector("[role=listbox]");
    this.status = root.querySelector("[role=status]");
    this.results = [];
    this.active = -1;
    this.timer = 0;
    this.asked = 0;
    this.input.addEventListener("input", () => this.later());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("focus", () => { if (this.input.value.trim()) this.later(); });
    this.input.addEventListener("blur", () => setTimeout(() => this.close(), 150));
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const item = event.target.closest("[role=option]");
      if (item) location.assign(this.results[Number(item.dataset.index)].url);
    });
    document.addEventListener("keydown", (event) => {
      const typing = event.target.closest("input, textarea, select");
      if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        this.input.focus();
      }
    });
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 120);
  }

  async ask() {
    const text = this.input.value.trim();
    const number = ++this.asked;
    if (!text) return this.close();
    let found;
    try {
      const answer = await fetch(`${document.documentElement.dataset.base}/api/search?limit=12&q=${encodeURIComponent(text)}`);
      if (!answer.ok) throw new Error(String(answer.status));
      found = await answer.json();
    } catch {
      if (number === this.asked) this.show([], "The search is not responding. Is the server still running?");
      return;
    }
    if (number === this.asked && document.activeElement === this.input) {
      this.show(found.results, found.results.length ? "" : `Nothing found for “${text}”.`);
    }
  }

  show(results, message) {
    this.results = results;
    this.active = -1;
    this.list.replaceChildren(...results.map((result, index) => {
      const item = document.createElement("li");
      item.id = `search-option-${index}`;
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", "false");
      item.dataset.index = String(index);
      const kind = document.createElement("span");
      kind.className = "kind";
      kind.textContent = result.kind;
      const text = document.createElement("span");
      text.textContent = result.title;
      if (result.detail) {
        const more = document.createElement("span");
        more.className = "more";
        more.textContent = result.detail;
        text.append(more);
      }
      item.append(kind, text);
      return item;
    }));
    const open = results.length > 0;
    this.list.hidden = !open;
    this.input.setAttribute("aria-expanded", String(open));
    this.input.removeAttribute("aria-activedescendant");
    this.status.textContent = message || `${results.length} found. Use the arrow keys to choose.`;
    this.status.classList.toggle("visually-hidden", !message);
    this.status.classList.toggle("search-list", Boolean(message));
  }

  close() {
    this.list.hidden = true;
    this.active = -1;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
    this.status.textContent = "";
    this.status.className = "visually-hidden";
  }

  choose(index) {
    const items = this.list.children;
    if (!items.length) return;
    if (this.active >= 0) items[this.active].setAttribute("aria-selected", "false");
    this.active = (index + items.length) % items.length;
    const item = items[this.active];
    item.setAttribute("aria-selected", "true");
    item.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", item.id);
  }

  key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (this.list.hidden) this.later();
      else this.choose(event.key === "ArrowDown" ? this.active + 1 : Math.max(this.active, 0) - 1);
      event.preventDefault();
    } else if (event.key === "Enter" && this.active >= 0) {
      event.preventDefault();
      location.assign(this.results[this.active].url);
    } else if (event.key === "Escape") {
      this.close();
    }
  }
}

for (const root of document.querySelectorAll(".search")) new SearchBox(root);
