// A list that may be very long: pages come as one scrolls; pages far away give their cards back
// and keep only their height, and those not seen for long give their rows back too.

import { fill, h, loading, state } from './dom.js';
import { MemCard } from './card.js';
import { painted } from './paint.js';
import { inPlace } from './place.js';
import { day } from './times.js';

/** Cards of this much above and below the window stay in the page. */
const NEAR = '150% 0px';
/** Pages whose rows are kept for coming back; others are asked for again. */
const KEPT = 40;

export class MemList extends HTMLElement {
  #options;
  #cursor;
  #busy = false;
  #ended = false;
  #pages = h('div', { class: 'pages' });
  #end = h('div', { class: 'list-end' }, loading());
  #news = h('button', { type: 'button', class: 'news', hidden: true, onclick: () => this.#top() });
  #unseen = 0;
  #open = new Set();
  #recent = [];
  #generation = 0;
  /** What is heard while the first page is on its way, which may not know of it yet. */
  #late = null;
  /** Settled when what was asked for last is there. */
  ready = null;
  #near = new IntersectionObserver((entries) => entries.forEach((entry) => this.#see(entry)), { rootMargin: NEAR });
  #more = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.#next(), { rootMargin: NEAR });

  /** `load(cursor)` gives `{items, next}`, `next` null at the end; `empty()` is what to say then;
   *  `days` sets a heading before each day. */
  static of(options) {
    const list = document.createElement('mem-list');
    list.#options = options;
    return list;
  }

  connectedCallback() {
    this.className = 'list';
    fill(this, this.#news, this.#pages, this.#end);
    addEventListener('scroll', this.#scrolled, { passive: true });
    this.reload();
  }

  disconnectedCallback() {
    this.#generation += 1;
    this.#near.disconnect();
    this.#more.disconnect();
    removeEventListener('scroll', this.#scrolled);
  }

  /** From the start. What is shown stays until there is something to show instead. */
  reload() {
    this.#generation += 1;
    this.#cursor = undefined;
    this.#ended = false;
    this.#busy = false;
    this.#more.disconnect();
    this.#late = [];
    this.setAttribute('aria-busy', 'true');
    this.ready = this.#next(true);
  }

  /** The next page, and on until the end is out of sight. */
  async #next(first = false) {
    if (this.#busy || this.#ended) return;
    this.#busy = true;
    const [generation, cursor] = [this.#generation, this.#cursor];
    try {
      const { items, next } = await this.#options.load(cursor);
      if (generation !== this.#generation) return;
      const had = first && this.#clear();
      if (items.length) this.#append(items, cursor);
      if (had) this.#focus(had);
      this.#cursor = next;
      this.#ended = next == null;
      if (this.#ended) this.#close();
      if (first) this.#catchUp();
    } catch (error) {
      if (generation !== this.#generation) return;
      if (first) this.#clear();
      this.#late = null;
      this.#ended = true;
      const again = h('button', { type: 'button', onclick: () => this.#again(first) }, 'Try again');
      fill(this.#end, state(error.message, error.hint, again));
    } finally {
      if (generation === this.#generation) {
        this.#busy = false;
        this.removeAttribute('aria-busy');
      }
    }
    if (first) await painted();
    // An observer only reports changes: asked anew, it says where the end is now.
    if (this.#ended || generation !== this.#generation) return;
    this.#more.unobserve(this.#end);
    this.#more.observe(this.#end);
  }

  #catchUp() {
    const late = this.#late;
    this.#late = null;
    late.forEach((tell) => tell());
  }

  #again(first) {
    this.#ended = false;
    fill(this.#end, loading());
    if (first) this.reload();
    else this.#next();
  }

  /** Gives the card that has the focus. */
  #clear() {
    const had = this.contains(document.activeElement) && document.activeElement.closest('mem-card');
    this.#near.disconnect();
    this.#recent = [];
    this.#unseen = 0;
    this.#news.hidden = true;
    fill(this.#pages);
    fill(this.#end, loading());
    return had;
  }

  /** The focus stays on what is drawn anew, or goes to what is there instead. */
  #focus({ row }) {
    const same = [...this.querySelectorAll('mem-card')].find((card) => card.row.handle === row.handle) ?? this;
    (same.querySelector('.card-toggle') ?? this.closest('main'))?.focus({ preventScroll: true });
  }

  #close() {
    const cards = this.#pages.childElementCount;
    fill(this.#end, cards ? h('p', { class: 'list-over' }, 'That is all.') : this.#options.empty());
  }

  #append(rows, cursor) {
    const page = h('section', { class: 'page' });
    page.rows = rows;
    page.cursor = cursor;
    this.#pages.append(page);
    this.#show(page);
    this.#near.observe(page);
    return page;
  }

  #show(page) {
    page.style.blockSize = '';
    fill(page, page.rows.map((row) => MemCard.of(row, { open: this.#open.has(row.handle) })));
    this.#headings(page);
    this.#recent = [page, ...this.#recent.filter((other) => other !== page)];
    // The rows of the first page are never given back: live ones came to it.
    for (const old of this.#recent.splice(KEPT)) if (!old.firstChild && old !== this.#pages.firstChild) old.rows = null;
  }

  async #see({ target: page, isIntersecting }) {
    page.isNear = isIntersecting;
    if (!isIntersecting) {
      if (!page.firstChild || page.contains(document.activeElement) || page.querySelector('form')) return;
      page.style.blockSize = `${page.getBoundingClientRect().height}px`;
      this.#remember(page);
      page.replaceChildren();
    } else if (!page.firstChild) {
      if (!page.rows) {
        const generation = this.#generation;
        try {
          const { items } = await this.#options.load(page.cursor);
          if (generation === this.#generation) page.rows = items;
        } catch {
          // Asked for again when it is scrolled to again.
        }
      }
      if (page.rows && page.isNear && !page.firstChild) inPlace(() => this.#show(page));
    }
  }

  #remember(page) {
    for (const card of page.querySelectorAll('mem-card')) this.#open[card.isOpen ? 'add' : 'delete'](card.row.handle);
  }

  /** A heading where a day begins, counting from the page before. */
  #headings(page) {
    if (!this.#options.days) return;
    page.querySelectorAll('.day').forEach((heading) => heading.remove());
    let last = page.previousElementSibling?.lastDay ?? '';
    for (const card of page.querySelectorAll('mem-card')) {
      const today = day(card.row.createdAt);
      if (today !== last) card.before(h('h2', { class: 'day' }, today));
      last = today;
    }
    page.lastDay = last;
  }

  /** A row as it is stored or changed. What is here is drawn anew; what is new goes to its place. */
  add(row) {
    this.#late?.push(() => this.add(row));
    const known = this.#find(row.kind, row.id);
    if (known) {
      Object.assign(known.page.rows[known.at], row);
      this.#card(known.page, row.kind, row.id)?.update(row);
      return;
    }
    const pages = [...this.#pages.children];
    if (!pages.length) {
      if (!this.#ended) return;
      this.#insert(this.#append([], undefined), row);
      this.#close();
      return;
    }
    const place = pages.find((page) => page.rows?.length && page.rows.at(-1).createdAt <= row.createdAt) ?? (this.#ended ? pages.at(-1) : null);
    if (place?.rows) this.#insert(place, row);
  }

  #insert(page, row) {
    let at = page.rows.findIndex((other) => other.createdAt <= row.createdAt);
    if (at < 0) at = page.rows.length;
    const next = page.rows[at];
    page.rows.splice(at, 0, row);
    const drawn = page.firstChild || page.rows.length === 1;
    if (drawn) {
      const card = MemCard.of(row, { fresh: true });
      const before = next && this.#card(page, next.kind, next.id);
      inPlace(() => {
        if (before) before.before(card);
        else page.append(card);
        this.#headings(page);
      });
    }
    if (at === 0 && page === this.#pages.firstChild && scrollY > 400) {
      this.#unseen += 1;
      fill(this.#news, `↑ ${this.#unseen} new`);
      this.#news.hidden = false;
    }
  }

  #scrolled = () => {
    if (scrollY < 400 && this.#unseen) {
      this.#unseen = 0;
      this.#news.hidden = true;
    }
  };

  #top() {
    scrollTo({ top: 0 });
    this.querySelector('.card-toggle')?.focus({ preventScroll: true });
  }

  drop(kind, id) {
    this.#late?.push(() => this.drop(kind, id));
    const known = this.#find(kind, id);
    if (!known) return;
    const { page, at } = known;
    page.rows.splice(at, 1);
    const card = this.#card(page, kind, id);
    if (card) {
      const had = card.contains(document.activeElement);
      const all = had ? [...this.querySelectorAll('mem-card')] : [];
      const here = all.indexOf(card);
      card.remove();
      if (had) ((all[here + 1] ?? all[here - 1])?.querySelector('.card-toggle') ?? this.closest('main'))?.focus();
      this.#headings(page);
    }
    if (!page.rows.length) {
      this.#near.unobserve(page);
      page.remove();
      if (!this.#pages.childElementCount && this.#ended) this.#close();
    }
  }

  #find(kind, id) {
    for (const page of this.#pages.children) {
      const at = page.rows?.findIndex((row) => row.kind === kind && row.id === id) ?? -1;
      if (at >= 0) return { page, at };
    }
    return null;
  }

  #card(page, kind, id) {
    return [...page.querySelectorAll('mem-card')].find((card) => card.row.kind === kind && card.row.id === id);
  }
}

customElements.define('mem-list', MemList);
