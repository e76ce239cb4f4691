// One memory as a card: a line that opens to all there is.

import { patch, post, remove } from './api.js';
import { fill, h, toast } from './dom.js';
import { apiOf, count, day, markOf, time, titleOf, typeOf } from './words.js';

export class MemCard extends HTMLElement {
  #row;
  #open = false;

  static of(row, { open = false, fresh = false } = {}) {
    const card = document.createElement('mem-card');
    card.#row = row;
    card.#open = open;
    card.className = `card${fresh ? ' fresh' : ''}`;
    return card;
  }

  get row() {
    return this.#row;
  }

  connectedCallback() {
    this.dataset.handle = this.#row.handle;
    this.dataset.type = typeOf(this.#row);
    this.#render();
  }

  #render() {
    const row = this.#row;
    const id = `body-${row.kind}-${row.id}`;
    this.classList.toggle('wrong', Boolean(row.wrong));
    this.classList.toggle('replaced', row.replacedBy != null);
    fill(
      this,
      h(
        'button',
        { type: 'button', class: 'card-head', 'aria-expanded': String(this.#open), 'aria-controls': id, onclick: () => this.toggle() },
        h('span', { class: 'mark', 'aria-hidden': 'true' }, markOf(row)),
        h('span', { class: 'card-title' }, titleOf(row)),
        row.pinned && h('span', { class: 'tag' }, 'pinned'),
        row.wrong && h('span', { class: 'tag' }, 'marked wrong'),
        row.replacedBy != null && h('span', { class: 'tag' }, `replaced by #${row.replacedBy}`),
        row.level === 'user' && h('span', { class: 'tag' }, 'every project'),
        row.level === 'proposed' && h('span', { class: 'tag' }, 'proposed'),
      ),
      h(
        'p',
        { class: 'meta' },
        h('span', {}, row.handle),
        h('span', {}, typeOf(row)),
        row.project && h('span', {}, row.project.name),
        h('time', { datetime: new Date(row.createdAt).toISOString(), title: day(row.createdAt) }, time(row.createdAt)),
        row.readTokens > 0 && h('span', {}, `${count(row.readTokens)} tokens`),
        row.score != null && h('span', {}, `score ${row.score.toFixed(2)}`),
      ),
      this.#open && h('div', { id, class: 'card-body' }, this.#body(), this.#actions()),
    );
  }

  toggle() {
    this.#open = !this.#open;
    this.#render();
    this.querySelector('.card-head').focus();
  }

  #body() {
    const row = this.#row;
    if (row.kind === 'summary') {
      const fields = [['Investigated', row.investigated], ['Learned', row.learned], ['Completed', row.completed], ['Next steps', row.nextSteps], ['Notes', row.notes]];
      return [
        h('dl', { class: 'fields' }, fields.filter(([, text]) => text).map(([name, text]) => [h('dt', {}, name), h('dd', {}, text)])),
        files('Read', row.filesRead),
        files('Edited', row.filesEdited),
      ];
    }
    if (row.kind !== 'observation') return h('p', { class: 'prose' }, row.private ? 'Its words were never kept.' : row.text);
    return [
      row.subtitle && h('p', { class: 'subtitle' }, row.subtitle),
      row.narrative && h('p', { class: 'prose' }, row.narrative),
      row.facts?.length > 0 && h('ul', { class: 'facts' }, row.facts.map((fact) => h('li', {}, fact))),
      row.concepts?.length > 0 && h('p', { class: 'chips' }, row.concepts.map((concept) => h('a', { class: 'chip', href: `#/search?concept=${encodeURIComponent(concept)}` }, concept))),
      files('Read', row.filesRead),
      files('Modified', row.filesModified),
      h('p', { class: 'meta' }, h('span', {}, `said by ${row.origin}`), h('span', {}, `made by ${row.madeBy}`), row.branch && h('span', {}, `branch ${row.branch}`)),
      row.why && why(row.why),
    ];
  }

  #actions() {
    const row = this.#row;
    const button = (name, run, extra = {}) => h('button', { type: 'button', class: 'quiet', onclick: run, ...extra }, name);
    const observation = row.kind === 'observation';
    return h(
      'div',
      { class: 'actions' },
      row.session && h('a', { class: 'quiet', href: `#/sessions/${row.session.id}` }, 'Session'),
      observation && button('Edit', () => this.#edit()),
      observation && button(row.pinned ? 'Unpin' : 'Pin', () => this.#change({ pinned: !row.pinned }), { 'aria-pressed': String(Boolean(row.pinned)) }),
      observation && button(row.wrong ? 'Not wrong after all' : 'Mark as wrong', () => this.#change({ wrong: !row.wrong })),
      observation && row.level === 'proposed' && button('Keep for every project', () => this.#change({ level: 'user' })),
      observation && row.level === 'user' && button('Only this project', () => this.#change({ level: 'project' })),
      button('Forget', () => this.#forget(), { class: 'quiet danger' }),
    );
  }

  async #change(edit) {
    try {
      this.#row = { ...this.#row, ...(await patch(apiOf(this.#row), edit)) };
      this.#render();
    } catch (error) {
      toast(`${error.message}. ${error.hint ?? ''}`);
    }
  }

  async #forget() {
    const row = this.#row;
    try {
      await remove(apiOf(row));
    } catch (error) {
      toast(error.message);
      return;
    }
    const next = this.nextElementSibling?.querySelector('.card-head');
    this.hidden = true;
    next?.focus();
    toast(`Forgot ${row.handle}`, {
      name: 'Undo',
      run: async () => {
        await post(`/api/memory/${row.kind}/${row.id}/restore`);
        this.hidden = false;
        this.querySelector('.card-head').focus();
      },
    });
  }

  #edit() {
    const row = this.#row;
    const field = (name, value, rows) =>
      h('label', { class: 'field' }, h('span', {}, name), rows ? h('textarea', { rows: String(rows), name }, value) : h('input', { name, value }));
    const form = h(
      'form',
      {
        class: 'edit',
        onsubmit: async (event) => {
          event.preventDefault();
          const values = Object.fromEntries(new FormData(form));
          const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);
          await this.#change({
            title: values.title,
            subtitle: values.subtitle,
            narrative: values.narrative,
            facts: lines(values.facts),
            concepts: values.concepts.split(',').map((word) => word.trim()).filter(Boolean),
          });
        },
      },
      field('title', row.title),
      field('subtitle', row.subtitle),
      field('narrative', row.narrative, 5),
      field('facts', (row.facts ?? []).join('\n'), 4),
      field('concepts', (row.concepts ?? []).join(', ')),
      h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Save'), h('button', { type: 'button', class: 'quiet', onclick: () => this.#render() }, 'Cancel')),
    );
    fill(this.querySelector('.card-body'), form);
    form.querySelector('input').focus();
  }
}

function files(name, list) {
  if (!list?.length) return null;
  return h('p', { class: 'chips' }, h('span', { class: 'chips-name' }, name), list.map((path) => h('a', { class: 'chip mono', href: `#/search?file=${encodeURIComponent(path)}` }, path)));
}

/** The parts of a score, as bars and figures. */
function why(parts) {
  const names = ['words', 'vectors', 'coverage', 'neighbours', 'recency'];
  const most = Math.max(...names.map((name) => parts[name] ?? 0), 0.01);
  return h(
    'details',
    { class: 'why' },
    h('summary', {}, 'Why it is here'),
    names.map((name) =>
      h('div', { class: 'bar-row' }, h('span', {}, name), h('span', { class: 'bar', style: { inlineSize: `${((parts[name] ?? 0) / most) * 60}%` } }), h('span', {}, (parts[name] ?? 0).toFixed(3))),
    ),
    parts.matched?.length > 0 && h('p', { class: 'meta' }, h('span', {}, `matched: ${parts.matched.join(', ')}`)),
  );
}

customElements.define('mem-card', MemCard);
