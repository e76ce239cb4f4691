// A list that may be very long: pages come as one scrolls, and pages far away give their cards
// back, keeping only their height.

import { fill, h, loading, state } from './dom.js';
import { MemCard } from './card.js';
import { day } from './words.js';

/** Cards of this many screens above and below stay in the page. */
const NEAR = '150% 0px';

export class MemList extends HTMLElement {
  #load;
  #cursor;
  #busy = false;
  #ended = false;
  #empty;
  #pages;
  #end;
  #near = new IntersectionObserver((entries) => entries.forEach((entry) => this.#see(entry)), { rootMargin: NEAR });
  #more = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.#next(), { rootMargin: NEAR });
  #generation = 0;

  /** `load(cursor)` gives `{items, next}`; `next` is null at the end. `empty` is what to say then. */
  static of(load, empty) {
    const list = document.createElement('mem-list');
    list.#load = load;
    list.#empty = empty;
    return list;
  }

  connectedCallback() {
    this.className = 'list';
    this.reload();
  }

  disconnectedCallback() {
    this.#near.disconnect();
    this.#more.disconnect();
  }

  async reload() {
    this.#generation += 1;
    this.#cursor = undefined;
    this.#ended = false;
    this.#busy = false;
    this.#near.disconnect();
    this.#pages = h('div', { class: 'pages' });
    this.#end = h('div', { class: 'list-end' }, loading());
    fill(this, this.#pages, this.#end);
    await this.#next();
    this.#more.observe(this.#end);
  }

  async #next() {
    if (this.#busy || this.#ended) return;
    this.#busy = true;
    const generation = this.#generation;
    try {
      const { items, next } = await this.#load(this.#cursor);
      if (generation !== this.#generation) return;
      if (items.length) this.#page(items);
      this.#cursor = next;
      this.#ended = next == null;
      if (this.#ended) fill(this.#end, this.#pages.childElementCount ? h('p', { class: 'meta' }, h('span', {}, 'That is all.')) : this.#empty());
    } catch (error) {
      if (generation !== this.#generation) return;
      this.#ended = true;
      const again = h('button', { type: 'button', onclick: () => this.reload() }, 'Try again');
      fill(this.#end, state(error.message, error.hint, again));
    } finally {
      if (generation === this.#generation) this.#busy = false;
    }
    // A short first page leaves the end in sight, and an observer only reports changes.
    if (!this.#ended && generation === this.#generation && this.#end.getBoundingClientRect().top < innerHeight * 2) await this.#next();
  }

  #page(items) {
    const page = h('section', { class: 'page' });
    page.rows = items;
    show(page);
    this.#pages.append(page);
    this.#near.observe(page);
  }

  #see({ target: page, isIntersecting }) {
    if (isIntersecting && !page.firstChild) {
      page.style.blockSize = '';
      show(page);
    } else if (!isIntersecting && page.firstChild && !page.contains(document.activeElement)) {
      page.rows = [...page.querySelectorAll('mem-card')].map((card) => card.row);
      page.style.blockSize = `${page.getBoundingClientRect().height}px`;
      page.replaceChildren();
    }
  }

  /** A new row on top, as it happens. */
  add(row) {
    if (!this.#pages) return;
    if (!this.#pages.firstChild) {
      this.#page([]);
      fill(this.#end);
    }
    const page = this.#pages.firstChild;
    page.rows.unshift(row);
    if (!page.firstChild && page.style.blockSize) return;
    page.prepend(MemCard.of(row, { fresh: true }));
  }

  drop(kind, id) {
    for (const card of this.querySelectorAll('mem-card')) if (card.row.kind === kind && card.row.id === id) card.remove();
  }
}

function show(page) {
  let last = '';
  const children = [];
  for (const row of page.rows) {
    const today = day(row.createdAt);
    if (today !== last && row.score == null) children.push(h('h2', { class: 'day' }, today));
    last = today;
    children.push(MemCard.of(row));
  }
  fill(page, children);
}

customElements.define('mem-list', MemList);
