// One turn in the feed: the prompt as a quiet line, its memories below, the summary and the replies
// on demand. A row without a turn is a turn of one card.

import { h } from './dom.js';
import { MemCard } from './card.js';
import { gistOf } from './details.js';
import { oldestFirst } from './rowOrder.js';
import { nameOf } from './texts.js';

const isSame = (one, other) => one.kind === other.kind && one.id === other.id;
/** Rows that are folded into the foot of a turn, in this order. */
const FOLDED = ['summary', 'message'];
/** A summary that only repeats the prompt is not offered. */
const isFolded = (row) => FOLDED.includes(row.kind) && (row.kind !== 'summary' || Boolean(gistOf(row)));

export class MemTurn extends HTMLElement {
  #row;
  #card;
  /** Kinds of the folded rows that are open. */
  #shown = new Set();
  /** The list that it stands in, or stood in. */
  #home = null;

  /** `row` is a turn as `/api/turns` sends it; `card` holds the options of its cards. */
  static of(row, { open = () => false, ...card } = {}) {
    const turn = document.createElement('mem-turn');
    turn.#row = row;
    turn.#card = { ...card, isOpen: open };
    for (const one of row.rows) if (isFolded(one) && open(one.handle)) turn.#shown.add(one.kind);
    return turn;
  }

  get row() {
    return this.#row;
  }

  /** The handles of its open cards, for when it is drawn again. */
  get openHandles() {
    return [...this.querySelectorAll('mem-card')].filter((card) => card.isOpen).map((card) => card.row.handle);
  }

  connectedCallback() {
    this.#home = this.closest('mem-list');
    if (this.firstChild) return;
    this.className = 'turn item';
    this.dataset.handle = this.#row.handle;
    this.#render();
  }

  freshen() {
    this.querySelectorAll('mem-card').forEach((card) => card.freshen());
  }

  /** The turn may have other rows now. Cards that stay are kept, with the text being written in them. */
  update(row) {
    this.#row = { ...this.#row, ...row };
    this.#render();
  }

  /** One of its rows was changed or came back. */
  add(row) {
    const rest = this.#row.rows.filter((one) => !isSame(one, row));
    const known = this.#row.rows.find((one) => isSame(one, row));
    this.#set([...rest, { ...known, ...row }]);
  }

  putBack(row) {
    this.add(row);
    if (!this.isConnected) this.#home?.putBack(this.#row);
  }

  /** One of its rows is gone. */
  drop(kind, id) {
    const rest = this.#row.rows.filter((one) => !isSame(one, { kind, id }));
    if (rest.length) this.#set(rest);
    else this.#home?.drop('turn', this.#row.id);
    if (!rest.length) this.#row = { ...this.#row, rows: [] };
  }

  #set(rows) {
    const row = { ...this.#row, rows: rows.sort(oldestFirst) };
    this.#row = row;
    if (this.isConnected) this.#home.add(row);
    else this.#render();
  }

  #render() {
    const { rows, number } = this.#row;
    const old = new Map([...this.querySelectorAll('mem-card')].map((card) => [card.row.handle, card]));
    const focused = this.contains(document.activeElement) ? document.activeElement.closest('mem-card') : null;
    const cardOf = (row, more) => {
      const card = old.get(row.handle);
      if (!card) return MemCard.of(row, { ...this.#card, ...more, open: this.#card.isOpen(row.handle) });
      card.update(row);
      return card;
    };
    if (!number) {
      place(this, rows.map((row) => cardOf(row, { nested: true })));
      return;
    }
    const prompts = rows.filter((row) => row.kind === 'prompt');
    const memories = rows.filter((row) => row.kind === 'observation');
    const folded = rows.filter((row) => isFolded(row) && this.#shown.has(row.kind));
    this.setAttribute('role', 'group');
    this.setAttribute('aria-label', `Turn ${number}`);
    place(this, [
      ...prompts.map((row) => cardOf(row, { inTurn: true, quiet: true })),
      ...memories.map((row) => cardOf(row, { inTurn: true })),
      ...folded.map((row) => cardOf(row, { inTurn: true })),
      this.#foot(),
    ]);
    if (focused && !focused.isConnected) (this.querySelector('.card-toggle') ?? this.querySelector('button'))?.focus({ preventScroll: true });
  }

  #foot() {
    const { rows, session, number } = this.#row;
    const first = rows.find((row) => row.project);
    const kinds = FOLDED.filter((kind) => rows.some((row) => row.kind === kind && isFolded(row)));
    const had = this.contains(document.activeElement) && document.activeElement.dataset.fold;
    const foot = h(
      'p',
      { class: 'turn-foot meta' },
      kinds.map((kind) => this.#fold(kind)),
      first && h('bdi', { class: 'project-name' }, first.project.name),
      rows[0]?.agent && h('span', { class: 'agent' }, rows[0].agent.title),
      session && h('a', { href: `#/sessions/${session}?turn=${number}` }, `Open session, turn ${number}`),
    );
    if (had) queueMicrotask(() => foot.querySelector(`[data-fold="${had}"]`)?.focus({ preventScroll: true }));
    return foot;
  }

  #fold(kind) {
    const isOpen = this.#shown.has(kind);
    const turn = () => {
      this.#shown[isOpen ? 'delete' : 'add'](kind);
      this.#render();
      if (!isOpen) for (const card of this.querySelectorAll('mem-card')) if (card.row.kind === kind && !card.isOpen) card.toggle(true, false);
    };
    return h('button', { type: 'button', class: 'fold', 'data-fold': kind, 'aria-expanded': String(isOpen), onclick: turn }, nameOf(kind));
  }
}

/** Puts these children in, without taking out those that stay: a card keeps its focus. */
function place(parent, children) {
  for (const old of [...parent.children]) if (!children.includes(old)) old.remove();
  children.forEach((child, at) => {
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
  });
}

/** The turn that a row of the stream belongs to; rows without a turn are turns of their own. */
export const turnIdOf = (row) => {
  const number = row.kind === 'prompt' ? row.number : row.promptNumber;
  return row.session && number > 0 ? `T${row.session.id}-${number}` : row.handle;
};

customElements.define('mem-turn', MemTurn);
