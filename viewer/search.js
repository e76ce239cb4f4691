// Search as one types, by our ranking, with the reasons on demand.

import { get } from './api.js';
import { debounce, fill, h, state } from './dom.js';
import { MemList } from './list.js';
import { isRow } from './order.js';
import { KINDS, nameOf, TYPES } from './words.js';

const PAGE = 30;
/** Of so many of the latest, concepts and files are offered. */
const OFFERED_OF = 200;
const FILTERS = ['kind', 'type', 'concept', 'file', 'since', 'until', 'wrong'];
const HOW = {
  otherProjects: 'Nothing in this project; these come from others.',
  otherProjectsBroader: 'Nothing in this project, and nothing elsewhere matches all of it; these of others match a part.',
  broader: 'Nothing matches all of it; these match a part.',
  near: 'Nothing matches; these are the nearest in meaning.',
};

/** Whether the last word may go on. */
const isTyping = () => (document.activeElement?.type === 'search' ? 'true' : '');

export function search(world, { params }) {
  let now = params;
  const value = (name) => now.get(name) ?? '';
  const note = h('p', { class: 'note', role: 'status' });
  const title = h('h1', {});
  const filters = filtersOf(world, value, () => {
    const kept = [...new FormData(filters.form)].filter(([, text]) => text);
    world.go('search', value('q') ? [['q', value('q')], ...kept] : kept);
  });
  const list = MemList.of({
    empty: () => state('Nothing found', 'Try fewer words, fewer filters, or another project.'),
    load: async (before, { signal }) => {
      // What was forgotten or marked wrong meanwhile is not counted by the worker either.
      const offset = before ? list.count((row) => value('wrong') || !row.wrong) : 0;
      const chosen = Object.fromEntries(FILTERS.map((name) => [name, value(name)]));
      const asked = { query: value('q'), project: world.project, allProjects: world.project ? '' : 'true', ...chosen };
      const found = await get('/api/search', { ...asked, limit: PAGE, offset, explain: 'true', typing: isTyping() }, signal);
      const items = found.items.map((row) => ({ ...row, asked: asked.query }));
      return { items, scope: found.scope, next: found.hasMore ? 'more' : null };
    },
    loaded: ({ items, scope }, isFirst) => {
      if (isFirst) fill(note, [items.length > 0 && HOW[scope?.how], ...(scope?.notes ?? [])].filter(Boolean).join(' '));
    },
  });
  const shown = () => {
    fill(title, value('q') ? [h('span', { class: 'soft' }, 'Results for '), h('bdi', {}, value('q'))] : 'Search');
    filters.show();
  };
  shown();
  world.listen(({ name, data }) => {
    if (name === 'removed') list.drop(data.kind, data.id);
    else if (name === 'missed') list.reload();
    else if (isRow(name)) list.add(data);
  });
  const update = ({ params: next }) => {
    now = next;
    shown();
    scrollTo(0, 0);
    list.reload();
  };
  return { content: [title, filters.form, note, list], update };
}

/** The form of the filters. `value` is what each is by the address; `go` asks anew. */
function filtersOf(world, value, go) {
  const later = debounce(150, go);
  const option = (name) => ([text, shown]) => h('option', { value: text, selected: text === value(name) }, shown);
  const select = (name, options) => h('select', { name, onchange: later }, options.map(option(name)));
  const filter = (label, control) => h('label', { class: 'filter' }, h('span', {}, label), control);
  const input = (name, type, more = {}) => h('input', { name, type, value: value(name), oninput: later, ...more });
  const concept = offered('concept', value('concept'), later, () => conceptsOf(world));
  const kinds = [['', 'Any'], ['observation', 'Observations'], ...KINDS];
  const types = [...new Set([...TYPES, value('type')])].filter(Boolean);
  const set = (name, text) => {
    const control = form.elements[name];
    if (control.type === 'checkbox') control.checked = text !== '';
    else control.value = text;
  };
  const clear = () => {
    FILTERS.forEach((name) => set(name, ''));
    later.now();
    // The button goes with what it cleared.
    form.elements[0].focus();
  };
  const button = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: clear }, 'Clear filters');
  const form = h(
    'form',
    { class: 'filters', 'aria-label': 'Filters', onsubmit: (event) => { event.preventDefault(); later.now(); } },
    filter('Kind', select('kind', kinds)),
    filter('Type', select('type', [['', 'Any'], ...types.map((type) => [type, nameOf(type)])])),
    filter('Concept', concept),
    filter('File', input('file', 'text', { autocomplete: 'off', placeholder: 'path or name' })),
    filter('From', input('since', 'date')),
    filter('To', input('until', 'date')),
    h('label', { class: 'check' }, h('input', { name: 'wrong', type: 'checkbox', value: 'true', onchange: later }), 'Wrong ones'),
    button,
  );
  const show = () => {
    // What is being typed stays as it is typed.
    for (const name of FILTERS) if (form.elements[name] !== document.activeElement) set(name, value(name));
    button.hidden = !FILTERS.some(value);
  };
  return { form, show };
}

/** A field with what it could be. Only whole words fit: so it is asked for by one that is known, or
 *  when it is typed to its end. */
function offered(name, value, go, load) {
  const options = h('datalist', { id: `known-${name}` });
  let known = null;
  const typed = () => (!field.value || known?.has(field.value)) && go();
  const offer = async () => {
    if (known) return;
    known = new Set();
    known = await load().catch(() => new Set());
    fill(options, [...known].map((text) => h('option', { value: text })));
    if (field.value !== value) typed();
  };
  const field = h('input', { name, type: 'text', value, list: options.id, autocomplete: 'off', dir: 'auto', onfocus: offer, oninput: typed, onchange: go });
  return [field, options];
}

/** The concepts of the latest memories, those first that many have. */
async function conceptsOf(world) {
  const { items } = await get('/api/observations', { limit: OFFERED_OF, project: world.project });
  const counts = new Map();
  for (const text of items.flatMap((row) => row.concepts)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return new Set([...counts].sort((a, b) => b[1] - a[1]).map(([text]) => text));
}
