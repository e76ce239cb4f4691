// The feed: everything as it was remembered, newest first, live.

import { get } from './api.js';
import { h, state } from './dom.js';
import { MemList } from './list.js';
import { mark, TYPES, typeOf } from './words.js';

/** The first page is as long as the window, to be there at once. */
const [FIRST, PAGE] = [window.first.rows, 25];
const KINDS = [['summary', 'Summaries'], ['prompt', 'Prompts'], ['message', 'Answers']];
const NAMES = { decision: 'Decisions', bugfix: 'Fixes', feature: 'Features', refactor: 'Refactorings', discovery: 'Discoveries', change: 'Changes' };
const ROWS = new Set(['prompt', 'observation', 'summary', 'message']);

export function feed(world, { params }) {
  const type = TYPES.includes(params.get('type')) ? params.get('type') : '';
  const kind = type ? 'observation' : (params.get('kind') ?? '');
  const list = MemList.of({
    days: true,
    empty: () => (type || kind || world.project ? state('Nothing of this kind is remembered yet', 'Choose another kind or project above.') : welcome()),
    load: async (before) => {
      let seen;
      try {
        const page = await get('/api/feed', { before, limit: before ? PAGE : FIRST, project: world.project, kind, type });
        seen = page.seen;
        return { items: page.items, next: page.nextCursor };
      } finally {
        world.begin(seen);
      }
    },
  });
  const fits = (row) => (!kind || kind === row.kind) && (!type || type === typeOf(row)) && (!world.project || String(row.project?.id) === world.project);
  world.listen(({ name, data }) => {
    if (name === 'removed') list.drop(data.kind, data.id);
    else if (name === 'missed') list.reload();
    else if (ROWS.has(name)) fits(data) ? list.add(data) : list.drop(data.kind, data.id);
  });
  const chip = (href, here, sign, name) => h('a', { class: 'pick', href, 'aria-current': here ? 'true' : null }, sign && mark(sign), name);
  const picks = h(
    'nav',
    { class: 'picks', 'aria-label': 'Kinds' },
    chip('#/feed', !kind, null, 'All'),
    TYPES.map((name) => chip(`#/feed?type=${name}`, name === type, name, NAMES[name])),
    KINDS.map(([value, name]) => chip(`#/feed?kind=${value}`, !type && value === kind, value, name)),
  );
  return [h('h1', { class: 'sr' }, 'Feed'), picks, list];
}

function welcome() {
  return state('Nothing is remembered yet', [
    'Use Claude Code in a project; what it does and learns appears here by itself. If nothing does, ',
    h('code', {}, 'claude-mem install'),
    ' connects it. You can also add a memory by hand.',
  ]);
}
