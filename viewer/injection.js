// The memories that a session received at one moment, in their place in the timeline.

import { h } from './dom.js';
import { time } from './dates.js';
import { count, plural } from './format.js';
import { named, table } from './table.js';
import { PLACES } from './texts.js';

/** The injections of a session as rows of its timeline: those of one moment are one row. */
export function injectionsOf({ injections, prompts }) {
  const moments = new Map();
  for (const entry of injections) {
    const key = `${entry.at}-${entry.place}`;
    if (!moments.has(key)) moments.set(key, { kind: 'injection', id: entry.at, handle: `I${key}`, place: entry.place, createdAt: entry.at, entries: [] });
    moments.get(key).entries.push(entry);
  }
  const rows = [...moments.values()];
  for (const row of rows) {
    const asked = prompts.filter((prompt) => prompt.createdAt <= row.createdAt).at(-1);
    row.promptNumber = row.place === 'session_start' && row.createdAt <= (prompts[0]?.createdAt ?? Infinity) ? 0 : (asked?.number ?? 0);
  }
  return rows;
}

export class MemInjection extends HTMLElement {
  #row;

  static of(row) {
    const element = document.createElement('mem-injection');
    element.#row = row;
    return element;
  }

  get row() {
    return this.#row;
  }

  connectedCallback() {
    if (this.firstChild) return;
    this.className = 'item injection';
    this.update(this.#row);
  }

  update(row) {
    const isOpen = this.querySelector('details')?.open ?? false;
    if (this.firstChild && JSON.stringify(row.entries) === JSON.stringify(this.#row.entries)) return;
    this.#row = row;
    const tokens = row.entries.reduce((sum, entry) => sum + entry.tokens, 0);
    const columns = [
      { name: 'Memory', cell: (entry) => named(entry) },
      { name: 'Tokens', cell: (entry) => count(entry.tokens), figure: true },
      { name: 'Reason', cell: (entry) => entry.reason },
    ];
    this.replaceChildren(h(
      'details',
      { open: isOpen },
      h('summary', {}, `Received ${plural(row.entries.length, 'memory', 'memories')}, ${plural(tokens, 'token')} `, h('span', { class: 'soft' }, `${PLACES[row.place] ?? row.place}, ${time(row.createdAt)}`)),
      table('Received memories', columns, row.entries),
    ));
  }

  freshen() { /* Its time is absolute. */ }
}

customElements.define('mem-injection', MemInjection);
