// The feed: everything as it was remembered, newest first, live.

import { get } from './api.js';
import { h, state } from './dom.js';
import { MemList } from './list.js';
import { MARKS } from './words.js';

const PAGE = 50;

export function feed(world, params) {
  const kinds = h('select', { 'aria-label': 'Kind', onchange: () => (location.hash = `#/feed?kind=${kinds.value}`) });
  for (const [value, name] of [['', 'Everything'], ['observation', 'Observations'], ['summary', 'Summaries'], ['prompt', 'Prompts'], ['message', 'Messages']]) {
    kinds.append(h('option', { value, selected: value === (params.get('kind') ?? '') }, name));
  }
  const kind = params.get('kind') ?? '';
  const list = MemList.of(
    async (before) => {
      const { items, nextCursor } = await get('/api/feed', { before, limit: PAGE, project: world.project, kind });
      return { items, next: nextCursor };
    },
    () => state('Nothing is remembered yet', 'Use Claude Code in a project for a while; what it learns appears here by itself.'),
  );
  world.listen(({ name, data }) => {
    if (name === 'removed') list.drop(data.kind, data.id);
    else if (name === 'missed') world.refresh();
    else if (name in { prompt: 1, observation: 1, summary: 1, message: 1 } && (!kind || kind === data.kind) && (!world.project || String(data.project?.id) === world.project)) list.add(data);
  });
  const legend = h('p', { class: 'legend', 'aria-hidden': 'true' }, Object.entries(MARKS).slice(0, 6).map(([type, mark]) => h('span', { 'data-type': type }, h('span', { class: 'mark' }, mark), type)));
  return [h('div', { class: 'bar-top' }, h('h1', {}, 'Feed'), kinds), legend, list];
}
