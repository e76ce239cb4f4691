// The feed: turns as they happen, newest first; or the rows of one kind, type or mark.

import { get } from './api.js';
import { h, state } from './dom.js';
import { densityButton } from './density.js';
import { exportButton } from './exportRows.js';
import { firstRun } from './health.js';
import { MemList } from './list.js';
import { cursorOf, isRow, newestFirst, rowAt } from './rowOrder.js';
import { mark, typeOf } from './format.js';
import { KINDS, pluralName, TYPES } from './texts.js';
import { roving } from './roving.js';
import { runningTurns } from './runningTurns.js';
import { MemTurn, turnIdOf } from './turn.js';

/** The first page is as long as the window, to be there at once. */
const [FIRST, PAGE, TURNS] = [window.first.rows, 25, 10];
const MARKS = [['pinned', 'Pinned'], ['wrong', 'Wrong']];
/** What an empty list of marked memories says. */
const UNMARKED = {
  pinned: ['No pinned memories', 'Open a memory and press Pin: every session of its project receives it.'],
  wrong: ['No memories are marked as wrong', 'A memory that is marked as wrong is kept here, and no session receives it.'],
};

export function feed(world, { params }) {
  const type = params.get('type') ?? '';
  const marked = MARKS.find(([name]) => name === params.get('marked'))?.[0];
  const kind = type || marked ? 'observation' : (params.get('kind') ?? '');
  const chosen = { type, kind, marked };
  const list = !kind ? turnList(world) : rowList(world, chosen);
  const chip = (query, here, sign, name) => h('a', { class: 'pick', href: `#/feed${query}`, 'aria-current': here ? 'true' : null }, sign && mark(sign), name);
  const types = TYPES.includes(type) || !type ? TYPES : [...TYPES, type];
  const picks = h(
    'nav',
    { class: 'picks', 'aria-label': 'Kinds' },
    h('span', {}, chip('', !kind, null, 'All'), types.map((name) => chip(`?${new URLSearchParams({ type: name })}`, name === type, name, pluralName(name)))),
    h('span', {}, KINDS.map(([value, name]) => chip(`?kind=${value}`, !type && value === kind, value, name))),
    h('span', {}, MARKS.map(([value, name]) => chip(`?marked=${value}`, value === marked, value, name))),
  );
  return [h('h1', { class: 'sr' }, 'Feed'), h('div', { class: 'feed-head' }, roving(picks), exportButton(() => listed(list), 'feed'), densityButton()), list];
}

/** The rows of the list that are loaded, without the turns around them. */
const listed = (content) => [content].flat().find((one) => one instanceof MemList).rows().flatMap((row) => (row.kind === 'turn' ? row.rows : row));

/** The page after `before`; while a page is loaded again, up to where it ended. */
async function pageOf(load, newestOf, before, { signal, upTo }) {
  const page = await load(before, signal);
  if (!upTo) return { items: page.items, next: page.nextCursor };
  const last = rowAt(upTo);
  const within = page.items.filter((item) => newestFirst(newestOf(item), last) <= 0);
  if (within.length < page.items.length || !page.nextCursor || page.nextCursor === upTo) return { items: within };
  const rest = await pageOf(load, newestOf, page.nextCursor, { signal, upTo });
  return { items: [...within, ...rest.items] };
}

const isMine = (world, row) => !world.project || String(row.project?.id) === world.project;

/** A turn as the list holds it. */
const itemOf = (turn) => ({ ...turn, kind: 'turn', id: turn.handle });
const newestRow = (turn) => turn.rows.reduce((newest, row) => (newestFirst(row, newest) < 0 ? row : newest));
const lastActiveFirst = (a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);

function turnList(world) {
  const list = MemList.of({
    days: true,
    compare: lastActiveFirst,
    cursorOf: (turn) => cursorOf(newestRow(turn)),
    make: (row, options) => MemTurn.of(row, options),
    empty: () => (world.project ? state('No memories in this project', 'Choose another project above.') : h('div', { class: 'state' }, firstRun())),
    load: async (before, options) => {
      let seen;
      const load = async (from, signal) => {
        const page = await get('/api/turns', { limit: from ? TURNS : FIRST, before: from, project: world.project }, signal);
        seen ??= page.seen;
        return { ...page, items: page.items.map(itemOf) };
      };
      try {
        return await pageOf(load, newestRow, before, options);
      } finally {
        world.begin(seen);
      }
    },
  });
  /** Loads a turn again, unless that is on its way. */
  const asked = new Set();
  const refresh = async (session, number) => {
    const id = `T${session}-${number}`;
    if (asked.has(id)) return;
    asked.add(id);
    try {
      await new Promise((done) => setTimeout(done, 60));
      asked.delete(id);
      list.add(itemOf(await get(`/api/turns/${session}/${number}`)));
    } catch {
      asked.delete(id);
    }
  };
  const changed = (row) => {
    const id = turnIdOf(row);
    const known = list.find((turn) => turn.id === id);
    if (!isMine(world, row)) return;
    if (row.kind === 'account') return;
    if (known) list.add({ ...known, rows: [...known.rows.filter((one) => one.handle !== row.handle), row].sort((a, b) => newestFirst(b, a)) });
    else if (id === row.handle) list.add({ kind: 'turn', id, handle: id, session: null, number: 0, createdAt: row.createdAt, rows: [row] });
    if (id !== row.handle) refresh(row.session.id, row.kind === 'prompt' ? row.number : row.promptNumber);
  };
  const removed = ({ kind, id }) => {
    const turn = list.find((one) => one.rows.some((row) => row.kind === kind && row.id === id));
    if (!turn) return;
    const rows = turn.rows.filter((row) => row.kind !== kind || row.id !== id);
    if (rows.length) list.add({ ...turn, rows });
    else list.drop('turn', turn.id);
  };
  const running = runningTurns(world);
  world.listen(({ name, data }) => {
    if (name === 'removed') removed(data);
    else if (name === 'missed') list.reload();
    else if (isRow(name)) changed(data);
    if (['queue', 'session', 'prompt', 'resumed'].includes(name)) running.refresh();
  });
  return [running.box, list];
}

function rowList(world, { type, kind, marked }) {
  const list = MemList.of({
    days: true,
    compare: newestFirst,
    empty: () => state(...(UNMARKED[marked] ?? ['Nothing of this kind', 'Choose another kind or project above.'])),
    ...(marked ? { load: byOffset } : { load: byCursor, cursorOf }),
  });
  /** By the place of the last row, which does not move. */
  async function byCursor(before, options) {
    let seen;
    const load = async (from, signal) => {
      const page = await get('/api/feed', { before: from, limit: from ? PAGE : FIRST, project: world.project, kind, type }, signal);
      seen ??= page.seen;
      return page;
    };
    try {
      return await pageOf(load, (row) => row, before, options);
    } finally {
      world.begin(seen);
    }
  }
  /** By the number of marked rows that are here already. */
  async function byOffset(before, { signal }) {
    const offset = before ? list.count((row) => row[marked]) : 0;
    const { items, hasMore } = await get('/api/observations', { [marked]: 'true', offset, limit: PAGE, project: world.project }, signal);
    return { items, next: hasMore ? 'more' : null };
  }
  const fits = (row) => isMine(world, row) && kind === row.kind && (!type || type === typeOf(row)) && (!marked || row[marked]);
  world.listen(({ name, data }) => {
    if (name === 'removed') list.drop(data.kind, data.id);
    else if (name === 'missed') list.reload();
    else if (isRow(name)) fits(data) ? list.add(data) : list.drop(data.kind, data.id);
  });
  return list;
}
