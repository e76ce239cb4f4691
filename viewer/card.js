// One memory as a card: a line that opens to all there is.

import { patch, post, remove } from './api.js';
import { fill, h, trouble } from './dom.js';
import { detailsOf, ledeOf, why } from './details.js';
import { edit } from './edit.js';
import { ago, day, time } from './times.js';
import { toast, undoToast } from './toasts.js';
import { apiOf, baseName, brief, count, hrefOf, mark, marked, plural, titleOf, typeName, typeOf } from './words.js';

const CONCEPTS = 3;
const ORIGINS = {
  user: 'from your words', agent: 'from the agent’s work', tool: 'from a tool’s output', web: 'from the web', import: 'imported', manual: 'added by hand',
};
/** What is named of something that is gone. */
const NAME_CHARS = 48;

export class MemCard extends HTMLElement {
  #row;
  #open = false;
  #fresh = false;
  #inSession = false;
  #drawn = '';

  /** `inSession`: it stands below its session, which need not be named again. */
  static of(row, { open = false, fresh = false, inSession = false } = {}) {
    const card = document.createElement('mem-card');
    card.#row = row;
    card.#open = open;
    card.#fresh = fresh;
    card.#inSession = inSession;
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
    this.className = `card${this.#fresh ? ' fresh' : ''}`;
    this.setAttribute('role', 'article');
    this.dataset.handle = this.#row.handle;
    this.#render();
  }

  /** The row may have changed. What somebody is writing in it stays, and so does what is as it was:
   *  a change is told twice, by its answer and by the stream, and a button that is pressed between
   *  them must be the one that is let go. */
  update(row) {
    this.#row = { ...this.#row, ...row };
    if (!this.querySelector('form') && this.#drawn !== seenOf(this.#row)) this.#render();
  }

  #render() {
    const row = this.#row;
    this.#drawn = seenOf(row);
    const had = this.contains(document.activeElement) ? (document.activeElement.dataset.act ?? 'toggle') : null;
    const id = `body-${row.kind}-${row.id}`;
    this.classList.toggle('wrong', Boolean(row.wrong));
    this.classList.toggle('replaced', row.replacedBy != null);
    this.classList.toggle('open', this.#open);
    const body = this.#open && h('div', { id, class: 'card-body' }, this.#body(), this.#actions());
    fill(this, mark(typeOf(row)), this.#head(id), this.#when(), body);
    this.setAttribute('aria-labelledby', `${id}-toggle`);
    if (had) (this.querySelector(`[data-act="${had}"]`) ?? this.querySelector('.card-toggle')).focus({ preventScroll: true });
  }

  #head(id) {
    const matched = this.#row.why?.matched;
    const lede = !this.#open && ledeOf(this.#row);
    const props = {
      type: 'button', class: 'card-toggle', dir: 'auto', id: `${id}-toggle`, 'data-act': 'toggle',
      'aria-expanded': String(this.#open), 'aria-controls': this.#open ? id : null, onclick: () => this.toggle(),
    };
    return h(
      'div',
      { class: 'card-head' },
      h('button', props, marked(titleOf(this.#row), matched)),
      lede && h('p', { class: 'lede', dir: 'auto' }, marked(lede, matched)),
      this.#meta(),
    );
  }

  /** In the order of time the hour says enough; elsewhere, how long ago. */
  #since = () => (this.#row.score == null ? time : ago)(this.#row.createdAt);

  #when() {
    const at = this.#row.createdAt;
    return h('time', { class: 'when', datetime: new Date(at).toISOString(), title: `${day(at)}, ${time(at)}` }, this.#since());
  }

  /** Time has gone on. */
  freshen() {
    const shown = this.querySelector(':scope > .when');
    if (shown.textContent !== this.#since()) fill(shown, this.#since());
  }

  #meta() {
    const row = this.#row;
    const files = row.kind === 'observation' ? [...row.filesModified, ...row.filesRead] : [];
    const concepts = row.concepts ?? [];
    const tag = (text) => h('span', { class: 'tag' }, text);
    return h(
      'p',
      { class: 'meta' },
      h('span', { class: 'type', 'data-type': typeOf(row) }, typeName(row)),
      row.pinned && tag('pinned'),
      row.wrong && tag('marked wrong'),
      row.replacedBy != null && tag(h('a', { href: hrefOf(`#${row.replacedBy}`) }, `replaced by #${row.replacedBy}`)),
      row.level === 'user' && tag('every project'),
      row.level === 'proposed' && tag('proposed'),
      row.project && !this.#inSession && h('bdi', {}, row.project.name),
      files.length > 0 && h('span', { class: 'mono' }, h('bdi', {}, baseName(files[0])), files.length > 1 && ` +${files.length - 1}`),
      concepts.length > 0 && h('bdi', {}, concepts.slice(0, CONCEPTS).join(', ')),
    );
  }

  toggle(to = !this.#open) {
    this.#open = to;
    this.#fresh = false;
    this.classList.remove('fresh');
    this.#render();
    this.querySelector('.card-toggle').focus({ preventScroll: true });
  }

  #body() {
    const isWhyOpen = this.querySelector('.why')?.open ?? false;
    return [detailsOf(this.#row), this.#row.why && why(this.#row, isWhyOpen), this.#source()];
  }

  /** Where it is from, small. */
  #source() {
    const row = this.#row;
    const session = row.session && !this.#inSession && h('a', { href: `#/sessions/${row.session.id}` }, 'its session');
    return h(
      'p',
      { class: 'meta' },
      h('a', { class: 'mono', href: hrefOf(row.handle), title: 'This memory alone' }, row.handle),
      row.readTokens > 0 && h('span', {}, `${plural(row.readTokens, 'token')} to tell`),
      row.discoveryTokens > 0 && h('span', {}, `${count(row.discoveryTokens)} to find out`),
      row.origin && h('span', {}, ORIGINS[row.origin] ?? row.origin),
      row.madeBy && row.madeBy !== 'hand' && h('span', {}, row.madeBy === 'local' ? 'written without a model' : `written by ${row.madeBy}`),
      row.branch && h('span', {}, 'branch ', h('bdi', {}, row.branch)),
      session,
    );
  }

  #actions() {
    const row = this.#row;
    const button = (act, name, run, more = {}) => h('button', { type: 'button', class: 'small', 'data-act': act, onclick: run, ...more }, name);
    const forget = button('forget', 'Forget', () => this.#forget(), { class: 'small danger' });
    if (row.kind !== 'observation') return h('div', { class: 'actions' }, forget);
    return h(
      'div',
      { class: 'actions' },
      button('edit', 'Edit', () => this.#edit()),
      button('pin', row.pinned ? 'Unpin' : 'Pin', () => this.#change({ pinned: !row.pinned }), { title: 'Pinned memories go to every session of their project' }),
      row.wrong
        ? button('wrong', 'Not wrong after all', () => this.#change({ wrong: false }), { title: 'It may be told again' })
        : button('wrong', 'Mark as wrong', () => this.#judge('wrong'), { title: 'What is wrong is never told again' }),
      !row.wrong && button('useless', 'Not useful', () => this.#judge('useless'), { title: 'It is told less often' }),
      row.level === 'proposed' && button('level', 'Keep for every project', () => this.#change({ level: 'user' })),
      row.level === 'user' && row.project && button('level', 'Only this project', () => this.#change({ level: 'project' })),
      forget,
    );
  }

  /** The row as it is now, also for the list that may have to draw it again. */
  #become(row) {
    const list = this.closest('mem-list');
    this.update(row);
    list?.add(this.#row);
  }

  async #change(edit) {
    try {
      this.#become(await patch(apiOf(this.#row), edit));
    } catch (error) {
      toast(trouble(error));
    }
  }

  /** Says what it was worth; the ledger keeps who said so. */
  async #judge(signal) {
    try {
      await post('/api/feedback', { handle: this.#row.handle, signal });
      if (signal === 'wrong') this.#become({ wrong: true });
      else toast('It will be told less often.');
    } catch (error) {
      toast(trouble(error));
    }
  }

  #edit() {
    const body = this.querySelector('.card-body');
    const end = () => {
      fill(body);
      this.#render();
      this.querySelector('[data-act="edit"]')?.focus({ preventScroll: true });
      this.dispatchEvent(new Event('free', { bubbles: true }));
    };
    const save = async (changed) => {
      const row = await patch(apiOf(this.#row), changed);
      fill(body);
      this.#become(row);
      end();
    };
    edit(body, this.#row, { save, cancel: end });
  }

  async #forget() {
    const row = this.#row;
    // Taken now: the stream may have taken the card out of it by the time of the answer.
    const list = this.closest('mem-list');
    try {
      await remove(apiOf(row));
    } catch (error) {
      toast(trouble(error));
      return;
    }
    list.drop(row.kind, row.id);
    const name = brief(titleOf(row), NAME_CHARS).replaceAll('`', '');
    undoToast(`Forgot “${name}”`, `Later: \`claude-mem forget --undo '${row.handle}'\``, async () => {
      await post(`/api/memory/${row.kind}/${row.id}/restore`);
      list.putBack(row);
      const back = document.getElementById(`body-${row.kind}-${row.id}-toggle`);
      (back ?? document.getElementById('main')).focus();
    });
  }
}

/** All of a row that a card could show. */
const seenOf = (row) => JSON.stringify({ ...row, updatedAt: null });

customElements.define('mem-card', MemCard);
