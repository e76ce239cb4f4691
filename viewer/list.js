// A list that may be very long: pages come as one scrolls; pages far away give their cards back
// and keep only their height, and those not seen for long give their rows back too.

import { failure, fill, h, loading } from './dom.js';
import { MemCard } from './card.js';
import { painted } from './firstPaint.js';
import { NewRows } from './newRows.js';
import { RowPlaces } from './rowPlaces.js';
import { inPlace } from './scrollAnchor.js';
import { setHeadings } from './headings.js';
import { day } from './dates.js';
import { TEXTS } from './texts.js';

/** Cards of this much above and below the window stay in the page. */
const NEAR = '150% 0px';
/** Pages whose rows are kept for coming back; others are asked for again. */
const KEPT = 40;
/** A page to which so many rows came is cut in two. */
const ROWS_MAX = 100;
const MINUTE_MS = 60_000;
/** An item of a page: a card, or a turn with its cards. */
const ITEM = '.item';

/** A list of single rows. */
const cardOf = (row, { open, ...more }) => MemCard.of(row, { open: open(row.handle), ...more });
const isSame = (one, other) => one.kind === other.kind && one.id === other.id;

export class MemList extends HTMLElement {
  #options;
  #headingOf = null;
  #cursor;
  #busy = false;
  #ended = false;
  #failed = false;
  #pages = h('div', { class: 'pages' });
  #end = h('div', { class: 'list-end' }, loading());
  #news = new NewRows(() => this.#top());
  #open = new Set();
  #recent = [];
  #generation = 0;
  #abort = new AbortController();
  /** Events received while the first page is loading, which may not include them. */
  #late = null;
  /** Changes that wait until an edit form is closed. */
  #waiting = [];
  #places = new RowPlaces();
  #minutes;
  #today = new Date().toDateString();
  /** Settled when the last requested page is loaded. */
  ready = null;
  #near = new IntersectionObserver((entries) => entries.forEach((entry) => this.#see(entry)), { rootMargin: NEAR });
  #more = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && this.#next(), { rootMargin: NEAR });

  /** `load(cursor, {signal, upTo})` gives `{items, next}`, `next` null at the end; `upTo` is the
   *  cursor at which the page ends where it was asked for before. `loaded(page)` hears of each that
   *  counts. `empty()` is the content of an empty list; `isSingle`: at most one row.
   *  `compare` is the order by which new rows find their place; without it there are none.
   *  `cursorOf(row)` is the cursor after a row; without it no rows are given back.
   *  `days` sets a heading before each day, `headingOf(row)` where its text changes; `card` holds the options of
   *  each card, `make(row, options)` makes another element. */
  static of(options) {
    const list = document.createElement('mem-list');
    list.#options = options;
    list.#headingOf = options.headingOf ?? (options.days ? (row) => day(row.createdAt) : null);
    return list;
  }

  connectedCallback() {
    addEventListener('scroll', this.#news.look, { passive: true });
    this.addEventListener('free', this.#freed);
    this.#minutes = setInterval(() => this.#minute(), MINUTE_MS);
    if (this.firstChild) {
      this.#resume();
      return;
    }
    this.className = 'list';
    fill(this, this.#news.button, this.#pages, this.#end);
    this.reload();
  }

  disconnectedCallback() {
    this.#outdate();
    this.#near.disconnect();
    this.#more.disconnect();
    clearInterval(this.#minutes);
    removeEventListener('scroll', this.#news.look);
  }

  /** Back in the page, as it was. */
  #resume() {
    if (!this.#pages.childElementCount && !this.#ended) this.reload();
    for (const page of this.#pages.children) this.#near.observe(page);
    if (!this.#ended) this.#more.observe(this.#end);
    this.#minute();
  }

  /** Discards requests that are under way. */
  #outdate() {
    this.#generation += 1;
    this.#busy = false;
    this.removeAttribute('aria-busy');
    this.#abort.abort();
    this.#abort = new AbortController();
  }

  /** Loads the list again. The shown rows stay until the new ones arrive. */
  reload() {
    if (this.querySelector('.edit')) {
      this.#waiting.push(() => this.reload());
      return;
    }
    this.#outdate();
    this.#cursor = undefined;
    this.#ended = false;
    this.#more.disconnect();
    this.#late = [];
    this.setAttribute('aria-busy', 'true');
    this.ready = this.#next(true);
  }

  /** Repeats failed requests. */
  retry() {
    if (this.#failed) this.#again(!this.#pages.childElementCount);
    for (const page of this.#pages.children) if (page.querySelector('.failed')) this.#fetch(page);
  }

  /** The first of its rows that is such, if it is loaded. */
  find(isSuch) {
    for (const page of this.#pages.children) {
      const found = page.rows?.find(isSuch);
      if (found) return found;
    }
    return null;
  }

  /** The rows that are loaded. */
  rows() {
    return [...this.#pages.children].flatMap((page) => page.rows ?? []);
  }

  /** How many of its rows are such. */
  count(isSuch) {
    return [...this.#pages.children].reduce((sum, page) => sum + (page.rows?.filter(isSuch).length ?? 0), 0);
  }

  /** The next page, and on until the end is out of sight. */
  async #next(first = false) {
    if (this.#busy || this.#ended) return;
    this.#busy = true;
    const [generation, cursor] = [this.#generation, this.#cursor];
    try {
      const page = await this.#options.load(cursor, { signal: this.#abort.signal });
      if (generation !== this.#generation) return;
      this.#options.loaded?.(page, first);
      this.#take(page, cursor, first);
    } catch (error) {
      if (generation !== this.#generation) return;
      if (first) this.#clear();
      this.#late = null;
      this.#ended = true;
      this.#failed = true;
      fill(this.#end, failure(error, () => this.#again(first)));
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

  #take({ items, next }, cursor, first) {
    const had = first && this.#clear();
    const fresh = items.filter((row) => !this.#find(row.kind, row.id));
    if (fresh.length) this.#append(fresh, cursor);
    if (had) this.#focus(had);
    this.#cursor = next;
    this.#ended = next == null;
    if (this.#ended) this.#close();
    if (first) this.#catchUp();
  }

  #catchUp() {
    const late = this.#late;
    this.#late = null;
    late.forEach((tell) => tell());
  }

  #again(first) {
    this.#ended = false;
    this.#failed = false;
    fill(this.#end, loading());
    if (first) this.reload();
    else this.#next();
  }

  /** Gives the card that has the focus. */
  #clear() {
    const had = this.contains(document.activeElement) && document.activeElement.closest('mem-card');
    this.#near.disconnect();
    this.#recent = [];
    this.#failed = false;
    this.#news.clear();
    fill(this.#pages);
    fill(this.#end, loading());
    return had;
  }

  /** The focus stays on an element that is drawn again, or moves to its replacement. */
  #focus({ row }) {
    const same = [...this.querySelectorAll('mem-card')].find((card) => card.row.handle === row.handle) ?? this;
    (same.querySelector('.card-toggle') ?? this.closest('main'))?.focus({ preventScroll: true });
  }

  #close() {
    const cards = this.#pages.childElementCount;
    fill(this.#end, cards ? !this.#options.isSingle && h('p', { class: 'list-over' }, TEXTS.endOfList) : this.#options.empty());
  }

  #append(rows, cursor) {
    const page = h('section', { class: 'page' });
    page.cursor = cursor;
    this.#pages.append(page);
    this.#hold(page, rows);
    this.#show(page);
    this.#near.observe(page);
    return page;
  }

  /** The page knows where it ends also when its rows are given back. */
  #hold(page, rows) {
    page.rows = rows;
    if (rows.length) page.last = rows.at(-1);
  }

  #made(row, more) {
    const make = this.#options.make ?? cardOf;
    const { open: isOpen = false, ...card } = this.#options.card ?? {};
    return make(row, { open: (handle) => isOpen || this.#open.has(handle), ...card, ...more });
  }

  #show(page) {
    page.style.blockSize = '';
    fill(page, page.rows.map((row) => this.#made(row)));
    this.#headings(page);
    this.#recent = [page, ...this.#recent.filter((other) => other !== page)];
    if (!this.#options.cursorOf) return;
    // The rows of the first page are never given back: live ones came to it.
    for (const old of this.#recent.splice(KEPT)) if (!old.firstChild && old !== this.#pages.firstChild) old.rows = null;
  }

  #see({ target: page, isIntersecting }) {
    page.isNear = isIntersecting;
    if (isIntersecting && !page.firstChild) this.#fetch(page);
    else if (!isIntersecting && page.firstChild) this.#giveBack(page);
  }

  #giveBack(page) {
    if (page.contains(document.activeElement) || page.querySelector('form')) return;
    page.style.blockSize = `${page.getBoundingClientRect().height}px`;
    this.#remember(page);
    page.replaceChildren();
  }

  /** Its cards are wanted; its rows may have to be asked for again. */
  async #fetch(page) {
    if (!page.rows) {
      const generation = this.#generation;
      try {
        const upTo = page.nextElementSibling?.cursor;
        const { items } = await this.#options.load(page.cursor, { signal: this.#abort.signal, upTo });
        if (generation !== this.#generation) return;
        this.#hold(page, items);
      } catch (error) {
        if (generation === this.#generation && page.isNear) fill(page, failure(error, () => this.#fetch(page)));
        return;
      }
    }
    if (page.isNear && !page.querySelector(ITEM)) inPlace(() => this.#show(page));
  }

  #remember(page) {
    for (const card of page.querySelectorAll('mem-card')) this.#open[card.isOpen ? 'add' : 'delete'](card.row.handle);
  }

  /** A heading where a day begins, counting from the page before. A change here may
   *  affect the headings of the next page. */
  #headings(page) {
    if (!this.#headingOf) return;
    for (const one of [page, page?.nextElementSibling]) if (one?.querySelector(ITEM)) setHeadings(one, ITEM, this.#headingOf);
  }

  /** Updates relative times, and after midnight the headings of days. */
  #minute() {
    const today = new Date().toDateString();
    const isNewDay = this.#today !== today;
    this.#today = today;
    this.querySelectorAll(ITEM).forEach((item) => item.freshen());
    if (isNewDay) for (const page of this.#pages.children) this.#headings(page);
  }

  /** Adds a row at its place, or updates it if it is listed. */
  add(row) {
    this.#late?.push(() => this.add(row));
    const known = this.#find(row.kind, row.id);
    if (known) {
      Object.assign(known.page.rows[known.at], row);
      this.#card(known.page, row)?.update(row);
      return;
    }
    const { compare } = this.#options;
    if (!compare) return;
    const pages = [...this.#pages.children];
    const isWhole = this.#ended && !this.#failed;
    const page = pages.find((one) => compare(row, one.last) < 0) ?? (isWhole ? pages.at(-1) : null);
    if (page?.rows) {
      const at = page.rows.findIndex((other) => compare(row, other) < 0);
      this.#insert(page, at < 0 ? page.rows.length : at, row);
    } else if (!pages.length && isWhole) this.#begin(row);
  }

  /** The first row of all. */
  #begin(row) {
    this.#append([row], undefined);
    this.#close();
  }

  /** Puts a restored row back at its former place. */
  putBack(row) {
    const place = this.#places.find(row);
    if (this.#find(row.kind, row.id) || !place) this.add(row);
    else this.#insertBeside(row, place);
  }

  #insertBeside(row, { before, after }) {
    const next = after && this.#find(after.kind, after.id);
    if (next) {
      this.#insert(next.page, next.at, row);
      return;
    }
    const previous = before && this.#find(before.kind, before.id);
    if (previous) this.#insert(previous.page, previous.at + 1, row);
    else if (!this.#pages.childElementCount) this.#begin(row);
    else this.add(row);
  }

  #insert(page, at, row) {
    const next = page.rows[at];
    page.rows.splice(at, 0, row);
    this.#hold(page, page.rows);
    const before = next && this.#card(page, next);
    if (page.querySelector(ITEM)) {
      inPlace(() => {
        const card = this.#made(row, { fresh: true });
        if (before) before.before(card);
        else page.append(card);
        this.#headings(page);
      });
    }
    if (at === 0 && page === this.#pages.firstChild) this.#news.announce();
    if (page.rows.length > ROWS_MAX) this.#split(page);
  }

  /** The second half becomes a page of its own, unless somebody is in it: else a page to which
   *  live rows come would grow for ever. */
  #split(page) {
    const cards = [...page.querySelectorAll(ITEM)].slice(ROWS_MAX / 2);
    if (cards.some((card) => card.contains(document.activeElement) || card.querySelector('form'))) return;
    const rest = h('section', { class: 'page' });
    const rows = page.rows.splice(ROWS_MAX / 2);
    rest.cursor = this.#options.cursorOf?.(page.rows.at(-1));
    this.#hold(page, page.rows);
    this.#hold(rest, rows);
    rest.append(...cards);
    page.after(rest);
    this.#headings(page);
    this.#near.observe(rest);
    this.#recent.push(rest);
  }

  /** Scrolls to the new rows. Their cards may have to be made again. */
  #top() {
    const first = this.#pages.firstChild;
    if (!first.querySelector(ITEM)) this.#show(first);
    scrollTo({ top: 0 });
    first.querySelector('.card-toggle').focus({ preventScroll: true });
  }

  drop(kind, id) {
    this.#late?.push(() => this.drop(kind, id));
    const known = this.#find(kind, id);
    if (!known) return;
    const { page, at } = known;
    const row = page.rows[at];
    const card = this.#card(page, row);
    if (card?.querySelector('.edit')) {
      this.#waiting.push(() => this.drop(kind, id));
      return;
    }
    this.#places.note(row, page.rows[at - 1] ?? page.previousElementSibling?.last, page.rows[at + 1] ?? page.nextElementSibling?.rows?.[0]);
    page.rows.splice(at, 1);
    this.#hold(page, page.rows);
    if (card) this.#takeOut(card, page);
    if (!page.rows.length) {
      const next = page.nextElementSibling;
      this.#near.unobserve(page);
      page.remove();
      this.#headings(next);
      if (!this.#pages.childElementCount && this.#ended) this.#close();
    }
  }

  /** Removes a card; the focus moves to its neighbour. */
  #takeOut(card, page) {
    const had = card.contains(document.activeElement);
    const all = had ? [...this.querySelectorAll(ITEM)] : [];
    const here = all.indexOf(card);
    card.remove();
    if (had) ((all[here + 1] ?? all[here - 1])?.querySelector('.card-toggle') ?? this.closest('main'))?.focus();
    this.#headings(page);
  }

  #freed = () => {
    if (this.querySelector('.edit')) return;
    this.#waiting.splice(0).forEach((run) => run());
  };

  #find(kind, id) {
    for (const page of this.#pages.children) {
      const at = page.rows?.findIndex((row) => row.kind === kind && row.id === id) ?? -1;
      if (at >= 0) return { page, at };
    }
    return null;
  }

  #card(page, row) {
    return [...page.querySelectorAll(ITEM)].find((item) => isSame(item.row, row));
  }
}

customElements.define('mem-list', MemList);
