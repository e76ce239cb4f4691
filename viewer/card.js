// One memory as a card: a line that opens to all there is.

import { patch, post, remove } from './api.js';
import { fill, h, toast, trouble } from './dom.js';
import { edit } from './edit.js';
import { ago, day, time } from './times.js';
import { apiOf, baseName, count, mark, marked, plural, titleOf, typeName, typeOf, wordsOf } from './words.js';

const CONCEPTS = 3;
const ORIGINS = { user: 'from your words', agent: 'from the agent’s work', tool: 'from a tool’s output', web: 'from the web', import: 'imported', manual: 'added by hand' };
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
    // What was said is its own title: it opens to its full length.
    this.classList.toggle('said', row.kind === 'prompt' || row.kind === 'message');
    const lede = ledeOf(row);
    fill(
      this,
      mark(typeOf(row)),
      h(
        'div',
        { class: 'card-head' },
        h('button', { type: 'button', class: 'card-toggle', id: `${id}-toggle`, 'data-act': 'toggle', 'aria-expanded': String(this.#open), 'aria-controls': this.#open ? id : null, onclick: () => this.toggle() }, marked(titleOf(row), row.why?.matched)),
        this.#open ? null : lede && h('p', { class: 'lede' }, marked(lede, row.why?.matched)),
        this.#meta(),
      ),
      h('time', { class: 'when', datetime: new Date(row.createdAt).toISOString(), title: `${day(row.createdAt)}, ${time(row.createdAt)}` }, row.score == null ? time(row.createdAt) : ago(row.createdAt)),
      this.#open && h('div', { id, class: 'card-body' }, this.#body(), this.#actions()),
    );
    this.setAttribute('aria-labelledby', `${id}-toggle`);
    if (had) (this.querySelector(`[data-act="${had}"]`) ?? this.querySelector('.card-toggle')).focus({ preventScroll: true });
  }

  #meta() {
    const row = this.#row;
    const files = row.kind === 'observation' ? [...row.filesModified, ...row.filesRead] : [];
    const concepts = row.concepts ?? [];
    return h(
      'p',
      { class: 'meta' },
      h('span', { class: 'type', 'data-type': typeOf(row) }, typeName(row)),
      row.pinned && h('span', { class: 'tag' }, 'pinned'),
      row.wrong && h('span', { class: 'tag' }, 'marked wrong'),
      row.replacedBy != null && h('span', { class: 'tag' }, `replaced by #${row.replacedBy}`),
      row.level === 'user' && h('span', { class: 'tag' }, 'every project'),
      row.level === 'proposed' && h('span', { class: 'tag' }, 'proposed'),
      row.project && !this.#inSession && h('span', {}, row.project.name),
      files.length > 0 && h('span', { class: 'mono' }, baseName(files[0]), files.length > 1 && ` +${files.length - 1}`),
      concepts.length > 0 && h('span', {}, concepts.slice(0, CONCEPTS).join(', ')),
    );
  }

  /** As it was before its view was drawn anew. */
  reopen() {
    this.#open = true;
    this.#render();
  }

  toggle(to = !this.#open) {
    this.#open = to;
    this.#fresh = false;
    this.classList.remove('fresh');
    this.#render();
    this.querySelector('.card-toggle').focus({ preventScroll: true });
  }

  #body() {
    const row = this.#row;
    const parts = row.kind === 'observation' ? observation(row) : row.kind === 'summary' ? summary(row) : row.private && h('p', { class: 'soft' }, 'Its words were never kept.');
    return [parts, row.why && why(row), this.#source()];
  }

  /** Where it is from, small. */
  #source() {
    const row = this.#row;
    const session = row.session && !this.#inSession && h('a', { href: `#/sessions/${row.session.id}` }, 'its session');
    return h(
      'p',
      { class: 'meta' },
      h('span', { class: 'mono' }, row.handle),
      row.readTokens > 0 && h('span', {}, `${plural(row.readTokens, 'token')} to tell`),
      row.discoveryTokens > 0 && h('span', {}, `${count(row.discoveryTokens)} to find out`),
      row.origin && h('span', {}, ORIGINS[row.origin] ?? row.origin),
      row.madeBy && row.madeBy !== 'hand' && h('span', {}, row.madeBy === 'local' ? 'written without a model' : `written by ${row.madeBy}`),
      row.branch && h('span', {}, `branch ${row.branch}`),
      session,
    );
  }

  #actions() {
    const row = this.#row;
    const button = (act, name, run, extra = {}) => h('button', { type: 'button', class: 'small', 'data-act': act, onclick: run, ...extra }, name);
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

  async #change(edit) {
    try {
      this.update(await patch(apiOf(this.#row), edit));
    } catch (error) {
      toast(trouble(error));
    }
  }

  /** Says what it was worth; the ledger keeps who said so. */
  async #judge(signal) {
    try {
      await post('/api/feedback', { handle: this.#row.handle, signal });
      if (signal === 'wrong') this.update({ ...this.#row, wrong: true });
      else toast('It will be told less often.');
    } catch (error) {
      toast(trouble(error));
    }
  }

  #edit() {
    const body = this.querySelector('.card-body');
    const done = (act = 'edit') => {
      this.#render();
      this.querySelector(`[data-act="${act}"]`)?.focus({ preventScroll: true });
    };
    edit(body, this.#row, {
      save: async (changed) => {
        this.#row = { ...this.#row, ...(await patch(apiOf(this.#row), changed)) };
        fill(body);
        done();
      },
      cancel: () => {
        fill(body);
        done();
      },
    });
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
    const place = document.createComment('');
    if (list) list.drop(row.kind, row.id);
    else this.replaceWith(place);
    const run = async () => {
      try {
        await post(`/api/memory/${row.kind}/${row.id}/restore`);
      } catch (error) {
        toast(trouble(error));
        return;
      }
      if (list) list.add(row);
      else place.replaceWith(this);
      document.getElementById(`body-${row.kind}-${row.id}-toggle`)?.focus();
    };
    toast(`Forgot “${brief(titleOf(row))}”`, { name: 'Undo', run });
  }
}

/** All of a row that a card could show. */
const seenOf = (row) => JSON.stringify({ ...row, updatedAt: null });

/** The next thing that it says; what only repeats the title is passed over. */
function ledeOf(row) {
  const said = row.kind === 'observation' ? [row.subtitle, row.narrative] : row.kind === 'summary' ? [row.completed, row.learned] : [];
  return said.find((text) => text && !same(text, titleOf(row)));
}

const brief = (text) => (text.length > NAME_CHARS ? `${text.slice(0, NAME_CHARS).trimEnd()}…` : text).replaceAll('`', '');

const same = (one, other) => one.replace(/[.\s]+$/, '') === other.replace(/[.\s]+$/, '');

function observation(row) {
  return [
    row.subtitle && !same(row.subtitle, row.title) && h('p', { class: 'soft' }, marked(row.subtitle)),
    row.narrative && row.narrative !== row.subtitle && h('p', { class: 'prose' }, marked(row.narrative)),
    row.facts?.length > 0 && h('ul', { class: 'facts' }, row.facts.map((fact) => h('li', {}, marked(fact)))),
    row.concepts?.length > 0 && chips('Concepts', row.concepts, 'concept'),
    chips('Modified', row.filesModified, 'file'),
    chips('Read', row.filesRead, 'file'),
  ];
}

function summary(row) {
  const fields = [['Investigated', row.investigated], ['Learned', row.learned], ['Completed', row.completed], ['Next steps', row.nextSteps], ['Notes', row.notes]];
  return [
    h('dl', { class: 'fields' }, fields.filter(([, text]) => text).map(([name, text]) => [h('dt', {}, name), h('dd', {}, marked(text))])),
    chips('Edited', row.filesEdited, 'file'),
    chips('Read', row.filesRead, 'file'),
  ];
}

function chips(name, list, filter) {
  if (!list?.length) return null;
  return h('p', { class: 'chips' }, h('span', { class: 'chips-name' }, name), list.map((text) => h('a', { class: filter === 'file' ? 'chip mono' : 'chip', href: `#/search?${new URLSearchParams({ [filter]: text })}` }, text)));
}

const PARTS = [
  ['words', 'Words', 'How well its words fit'],
  ['vectors', 'Meaning', 'How near its meaning is'],
  ['coverage', 'Coverage', 'How much of the question is in it'],
  ['neighbours', 'Neighbours', 'How well what stands around it fits'],
  ['recency', 'Recency', 'How new it is'],
];

/** The parts of a score, as bars and figures. */
function why({ why: parts, score, asked = '' }) {
  const most = Math.max(...PARTS.map(([key]) => parts[key] ?? 0), 0.01);
  const line = ([key, name, about]) => {
    const part = Math.max(parts[key] ?? 0, 0);
    return h('div', { class: 'bar-row', title: about }, h('span', {}, name), h('span', { class: 'bar' }, part > 0 && h('span', { style: { inlineSize: `${(part / most) * 100}%` } })), h('span', {}, part.toFixed(2)));
  };
  return h(
    'details',
    { class: 'why' },
    h('summary', {}, 'Why it is here', h('span', { class: 'score', title: 'How well it fits' }, score.toFixed(2))),
    PARTS.map(line),
    parts.matched?.length > 0 && h('p', { class: 'meta' }, `matched: ${wordsOf(parts.matched, asked).join(', ')}`),
  );
}

customElements.define('mem-card', MemCard);
