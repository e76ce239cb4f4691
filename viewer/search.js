// Search as one types, by our ranking, with the reasons on demand.

import { get } from './api.js';
import { debounce, fill, h, state } from './dom.js';
import { MemList } from './list.js';
import { MARKS } from './words.js';

const PAGE = 30;
const HOW = {
  otherProjects: 'Nothing in this project; these come from others.',
  broader: 'Nothing matches all of it; these match a part.',
  recent: 'Nothing matches; these are the latest.',
};

export function search(world, params) {
  const value = (name) => params.get(name) ?? '';
  const note = h('p', { class: 'note', role: 'status' });
  const go = debounce(200, () => {
    const kept = [...new FormData(form)].filter(([, text]) => text);
    if (value('q')) kept.unshift(['q', value('q')]);
    location.hash = `#/search?${new URLSearchParams(kept)}`;
  });
  const input = (name, type, label) => h('label', { class: 'filter' }, h('span', {}, label), h('input', { name, type, value: value(name), oninput: go }));
  const types = h('select', { name: 'type', onchange: go }, ['', ...Object.keys(MARKS).slice(0, 6)].map((type) => h('option', { value: type, selected: type === value('type') }, type || 'any')));
  const form = h(
    'form',
    { class: 'filters', 'aria-label': 'Filters', onsubmit: (event) => event.preventDefault() },
    h('label', { class: 'filter' }, h('span', {}, 'Type'), types),
    input('concept', 'text', 'Concept'),
    input('file', 'text', 'File'),
    input('since', 'date', 'From'),
    input('until', 'date', 'To'),
  );
  const list = MemList.of(
    async (offset = 0) => {
      const found = await get('/api/search', {
        query: value('q'), project: world.project, allProjects: world.project ? '' : 'true', type: value('type'), concept: value('concept'),
        file: value('file'), since: value('since'), until: value('until'), limit: PAGE, offset, explain: 'true',
      });
      fill(note, HOW[found.scope?.how] ?? '');
      return { items: found.items, next: found.hasMore ? offset + PAGE : null };
    },
    () => state('Nothing found', 'Try fewer words, or another project.'),
  );
  return [h('h1', {}, value('q') ? `Search: ${value('q')}` : 'Search'), form, note, list];
}
