// New rows above the visible ones: a button shows their number and leads to them.

import { fill, h } from './dom.js';

/** Within this many pixels of its start a list shows new rows by itself. */
const TOP_PX = 400;

export class NewRows {
  #unseen = 0;

  /** `go` shows the start of the list. */
  constructor(go) {
    this.button = h('button', { type: 'button', class: 'news', hidden: true, onclick: go });
  }

  /** A row came at the start. */
  announce() {
    if (scrollY <= TOP_PX) return;
    this.#unseen += 1;
    fill(this.button, `↑ ${this.#unseen} new`);
    this.button.hidden = false;
  }

  clear() {
    this.#unseen = 0;
    this.button.hidden = true;
  }

  /** The page was scrolled. */
  look = () => {
    if (scrollY < TOP_PX && this.#unseen) this.clear();
  };
}
