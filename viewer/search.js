// Search as one types, by our ranking, with the reasons on demand.

import { get } from './api.js';
import { debounce, fill, h, state } from './dom.js';
import { MemList } from './list.js';
import { nameOf, TYPES } from './words.js';

const PAGE = 30;
const FILTERS = ['kind', 'type', 'concept', 'file', 'since', 'until'];
const KINDS = [['', 'Any'], ['observation', 'Observations'], ['summary', 'Summaries'], ['prompt', 'Prompts'], ['message', 'Answers']];
const HOW = {
  otherProjects: 'Nothing in this project; these come from others.',
  otherProjectsBroader: 'Nothing in this project, and nothing elsewhere matches all of it; these of others match a part.',
  broader: 'Nothing matches all of it; these match a part.',
  recent: 'Nothing matches; these are the latest.',
};

/** Whether the last word may go on. */
const isTyping = () => (document.activeElement?.type === 'search' ? 'true' : '');

export function search(world, { params }) {
  let now = params;
  const value = (name) => now.get(name) ?? '';
  const note = h('p', { class: 'note', role: 'status' });
  const go = debounce(150, () => {
    const kept = [...new FormData(form)].filter(([, text]) => text);
    world.go('search', value('q') ? [['q', value('q')], ...kept] : kept);
  });
  const select = (name, options) => h('select', { name, onchange: go }, options.map(([text, shown]) => h('option', { value: text, selected: text === value(name) }, shown)));
  const filter = (label, control) => h('label', { class: 'filter' }, h('span', {}, label), control);
  const input = (name, type, more = {}) => h('input', { name, type, value: value(name), oninput: go, ...more });
  const clear = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => world.go('search', value('q') ? [['q', value('q')]] : []) }, 'Clear filters');
  const form = h(
    'form',
    { class: 'filters', 'aria-label': 'Filters', onsubmit: (event) => event.preventDefault() },
    filter('Kind', select('kind', KINDS)),
    filter('Type', select('type', [['', 'Any'], ...TYPES.map((type) => [type, nameOf(type)])])),
    filter('Concept', input('concept', 'text', { autocomplete: 'off' })),
    filter('File', input('file', 'text', { autocomplete: 'off', placeholder: 'path or name' })),
    filter('From', input('since', 'date')),
    filter('To', input('until', 'date')),
    clear,
  );
  const title = h('h1', {});
  const list = MemList.of({
    load: async (offset = 0) => {
      const filters = Object.fromEntries(FILTERS.map((name) => [name, value(name)]));
      const found = await get('/api/search', { query: value('q'), project: world.project, allProjects: world.project ? '' : 'true', ...filters, limit: PAGE, offset, explain: 'true', typing: isTyping() });
      if (offset === 0) fill(note, [found.items.length > 0 && HOW[found.scope?.how], ...(found.scope?.notes ?? [])].filter(Boolean).join(' '));
      return { items: found.items.map((row) => ({ ...row, asked: value('q') })), next: found.hasMore ? offset + PAGE : null };
    },
    empty: () => state('Nothing found', 'Try fewer words, fewer filters, or another project.'),
  });
  const shown = () => {
    fill(title, value('q') ? [h('span', { class: 'soft' }, 'Results for '), value('q')] : 'Search');
    clear.hidden = !FILTERS.some(value);
  };
  shown();
  world.listen(({ name, data }) => {
    if (name === 'removed') list.drop(data.kind, data.id);
  });
  const update = ({ params: next }) => {
    now = next;
    for (const name of FILTERS) {
      const control = form.elements[name];
      if (control !== document.activeElement) control.value = value(name);
    }
    shown();
    list.reload();
  };
  return { content: [title, form, note, list], update };
}
