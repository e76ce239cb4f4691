// One memory as a card: a line that opens to all there is.

import { actionsOf } from './cardActions.js';
import { fill, h } from './dom.js';
import { detailsOf, gistOf, ledeOf, reasonOf, snippetOf, why } from './details.js';
import { ago, day, stamp, time } from './dates.js';
import { isSelected, select } from './selection.js';
import { madeBy, ORIGINS, TEXTS } from './texts.js';
import { baseName, brief, count, hrefOf, mark, marked, plural, titleOf, typeName, typeOf } from './format.js';

/** Characters of a summary that serve as its title. */
const GIST_CHARS = 160;
/** Elements that hold the rows of cards: both have `add`, `drop` and `putBack`. */
const HOLDER = 'mem-turn, mem-list';

export class MemCard extends HTMLElement {
  #row;
  #open = false;
  #fresh = false;
  #inSession = false;
  #inTurn = false;
  #nested = false;
  #quiet = false;
  #dated = false;
  #drawn = '';

  /** `inSession`: it stands below its session, which need not be named again. `inTurn`: below its turn, which
   *  names the project. `nested`: within another item of the list. `quiet`: one line.
   *  `dated`: no heading names the day. */
  static of(row, { open = false, fresh = false, inSession = false, inTurn = false, nested = inTurn, quiet = false, dated = false } = {}) {
    const card = document.createElement('mem-card');
    card.#row = row;
    card.#open = open;
    card.#fresh = fresh;
    card.#inSession = inSession;
    card.#inTurn = inTurn;
    card.#nested = nested;
    card.#quiet = quiet;
    card.#dated = dated;
    return card;
  }

  get row() {
    return this.#row;
  }

  get isOpen() {
    return this.#open;
  }

  connectedCallback() {
    if (this.firstChild) return;
    this.className = `card ${this.#nested ? '' : 'item '}${this.#quiet ? 'quiet ' : ''}${this.#fresh ? 'fresh' : ''}`;
    this.setAttribute('role', 'article');
    this.dataset.handle = this.#row.handle;
    this.render();
  }

  /** The row may have changed. A form in the card stays, and an unchanged card is not drawn again: each change
   *  arrives twice, as a response and by the stream, and a button pressed between them must not be replaced. */
  update(row) {
    this.#row = { ...this.#row, ...row };
    if (!this.querySelector('form') && this.#drawn !== seenOf(this.#row)) this.render();
  }

  render() {
    const row = this.#row;
    this.#drawn = seenOf(row);
    const had = this.contains(document.activeElement) ? (document.activeElement.dataset.act ?? 'toggle') : null;
    const id = `body-${row.kind}-${row.id}`;
    this.classList.toggle('wrong', Boolean(row.wrong));
    this.classList.toggle('replaced', row.replacedBy != null);
    this.classList.toggle('open', this.#open);
    const body = this.#open && h('div', { id, class: 'card-body' }, this.#body(), actionsOf(this));
    const box = row.kind === 'observation' && h('input', { type: 'checkbox', class: 'select', tabindex: '-1', checked: isSelected(row.handle), 'aria-label': `Select ${row.handle}`, onclick: (event) => select(this, event.shiftKey) });
    this.classList.toggle('selected', isSelected(row.handle));
    fill(this, mark(typeOf(row)), this.#head(id), this.#when(), body, box);
    this.setAttribute('aria-labelledby', `${id}-toggle`);
    if (had) (this.querySelector(`[data-act="${had}"]`) ?? this.querySelector('.card-toggle')).focus({ preventScroll: true });
  }

  #head(id) {
    const matched = this.#row.why?.matched;
    const gist = (this.#inTurn || this.#inSession) && gistOf(this.#row);
    const lede = !this.#open && (snippetOf(this.#row) ?? (gist ? null : ledeOf(this.#row)));
    const reason = !this.#open && this.#row.asked && reasonOf(this.#row);
    const props = {
      type: 'button', class: 'card-toggle', dir: 'auto', id: `${id}-toggle`, 'data-act': 'toggle',
      'aria-expanded': String(this.#open), 'aria-controls': this.#open ? id : null, onclick: (event) => (event.shiftKey && this.#row.kind === 'observation' ? select(this, true) : this.toggle()),
    };
    return h(
      'div',
      { class: 'card-head' },
      h('button', props, marked(gist ? brief(gist, GIST_CHARS) : titleOf(this.#row), matched)),
      lede && h('p', { class: 'lede', dir: 'auto' }, marked(lede, matched)),
      this.#meta(reason),
    );
  }

  /** In the order of time the hour says enough; elsewhere, how long ago. */
  #since = () => (this.#dated ? stamp : this.#row.score == null ? time : ago)(this.#row.createdAt);

  #when() {
    const at = this.#row.createdAt;
    return h('time', { class: 'when', datetime: new Date(at).toISOString(), title: `${day(at)}, ${time(at)}` }, this.#since());
  }

  /** Time has gone on. */
  freshen() {
    const shown = this.querySelector(':scope > .when');
    if (shown.textContent !== this.#since()) fill(shown, this.#since());
  }

  #meta(reason) {
    const row = this.#row;
    // An open card lists them all.
    const files = !this.#open && row.kind === 'observation' ? [...row.filesModified, ...row.filesRead] : [];
    const tag = (text) => h('span', { class: 'tag' }, text);
    return h(
      'p',
      { class: 'meta' },
      h('span', { class: 'type', 'data-type': typeOf(row) }, typeName(row)),
      row.who && h('bdi', { class: 'who' }, row.who),
      row.heldBack && tag('Not offered to agents'),
      row.pinned && tag('Pinned'),
      row.wrong && tag('Wrong'),
      row.replacedBy != null && tag(h('a', { href: hrefOf(`#${row.replacedBy}`) }, `Replaced by #${row.replacedBy}`)),
      row.level === 'user' && tag('All projects'),
      row.level === 'proposed' && row.replacedBy == null && tag(TEXTS.suggested),
      row.project && !this.#inSession && !this.#inTurn && h('bdi', { class: 'project-name' }, row.project.name),
      files.length > 0 && h('span', { class: 'mono' }, h('bdi', {}, baseName(files[0])), files.length > 1 && ` +${files.length - 1}`),
      reason && h('span', { class: 'reason' }, reason),
    );
  }

  toggle(to = !this.#open, withFocus = true) {
    this.#open = to;
    this.#fresh = false;
    this.classList.remove('fresh');
    this.render();
    if (withFocus) this.querySelector('.card-toggle').focus({ preventScroll: true });
  }

  #body() {
    const isWhyOpen = this.querySelector('.why')?.open ?? false;
    return [detailsOf(this.#row), this.#row.why && why(this.#row, isWhyOpen), this.#source()];
  }

  /** Where it is from, small. */
  #source() {
    const row = this.#row;
    const session = row.session && !this.#inSession && h('a', { href: `#/sessions/${row.session.id}${row.promptNumber > 0 ? `?turn=${row.promptNumber}` : ''}` }, row.promptNumber > 0 ? `Open session, turn ${row.promptNumber}` : 'Open session');
    return h(
      'p',
      { class: 'meta' },
      h('a', { class: 'mono', href: hrefOf(row.handle), title: 'This memory alone' }, row.handle),
      row.readTokens > 0 && h('span', {}, plural(row.readTokens, 'token')),
      row.discoveryTokens > 0 && h('span', {}, `${count(row.discoveryTokens)} of original work`),
      row.who ? h('span', {}, 'Recorded by ', h('bdi', {}, row.who)) : row.origin && h('span', {}, ORIGINS[row.origin] ?? row.origin),
      row.madeBy && row.madeBy !== 'hand' && h('span', {}, madeBy(row.madeBy)),
      row.branch && h('span', {}, 'branch ', h('bdi', {}, row.branch)),
      row.agent && !this.#inSession && h('span', { class: 'agent' }, row.agent.title),
      session,
    );
  }

  /** The turn or the list that holds the row of this card. */
  get holder() {
    return this.closest(HOLDER);
  }

  /** The row as it is now, also for the list that may have to draw it again. */
  become(row) {
    const { holder } = this;
    this.update(row);
    holder?.add(this.#row);
  }
}

/** All of a row that a card could show. */
const seenOf = (row) => JSON.stringify({ ...row, updatedAt: null });

customElements.define('mem-card', MemCard);
