// The feed: everything as it was remembered, newest first, live.

import { get } from './api.js';
import { h, state } from './dom.js';
import { MemList } from './list.js';
import { cursorOf, isRow, newestFirst, rowAt } from './order.js';
import { KINDS, manyOf, mark, TYPES, typeOf } from './words.js';

/** The first page is as long as the window, to be there at once. */
const [FIRST, PAGE] = [window.first.rows, 25];
const MARKS = [['pinned', 'Pinned'], ['wrong', 'Wrong']];

export function feed(world, { params }) {
  const type = params.get('type') ?? '';
  const marked = MARKS.find(([name]) => name === params.get('marked'))?.[0];
  const kind = type || marked ? 'observation' : (params.get('kind') ?? '');
  const list = MemList.of({
    days: true,
    compare: newestFirst,
    empty: () => (type || kind || world.project ? state('Nothing of this kind is remembered yet', 'Choose another kind or project above.') : welcome()),
    ...(marked ? { load: offsets } : { load: cursors, cursorOf }),
  });

  /** By the place of the last row, which does not move. */
  async function cursors(before, { signal, upTo }) {
    let seen;
    try {
      const page = await get('/api/feed', { before, limit: before ? PAGE : FIRST, project: world.project, kind, type }, signal);
      seen = page.seen;
      return upTo ? upToThere(page, upTo, signal) : { items: page.items, next: page.nextCursor };
    } finally {
      world.begin(seen);
    }
  }

  /** As it was asked for before: meanwhile rows may have come to it, or gone. */
  async function upToThere({ items, nextCursor }, upTo, signal) {
    const last = rowAt(upTo);
    const within = items.filter((row) => newestFirst(row, last) <= 0);
    if (within.length < items.length || !nextCursor || nextCursor === upTo) return { items: within };
    return { items: [...within, ...(await cursors(nextCursor, { signal, upTo })).items] };
  }

  /** By number: how many of those that are marked are here already. */
  async function offsets(before, { signal }) {
    const offset = before ? list.count((row) => row[marked]) : 0;
    const { items, hasMore } = await get('/api/observations', { [marked]: 'true', offset, limit: PAGE, project: world.project }, signal);
    return { items, next: hasMore ? 'more' : null };
  }

  const isMine = (row) => !world.project || String(row.project?.id) === world.project;
  const fits = (row) => isMine(row) && (!kind || kind === row.kind) && (!type || type === typeOf(row)) && (!marked || row[marked]);
  world.listen(({ name, data }) => {
    if (name === 'removed') list.drop(data.kind, data.id);
    else if (name === 'missed') list.reload();
    else if (isRow(name)) fits(data) ? list.add(data) : list.drop(data.kind, data.id);
  });
  const chip = (query, here, sign, name) => h('a', { class: 'pick', href: `#/feed${query}`, 'aria-current': here ? 'true' : null }, sign && mark(sign), name);
  const types = TYPES.includes(type) || !type ? TYPES : [...TYPES, type];
  const picks = h(
    'nav',
    { class: 'picks', 'aria-label': 'Kinds' },
    chip('', !kind, null, 'All'),
    types.map((name) => chip(`?${new URLSearchParams({ type: name })}`, name === type, name, manyOf(name))),
    KINDS.map(([value, name]) => chip(`?kind=${value}`, !type && value === kind, value, name)),
    MARKS.map(([value, name]) => chip(`?marked=${value}`, value === marked, null, name)),
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
