// The dashboard: health, counts, tokens and failed events.

import { get, post, remove } from './api.js';
import { ask, fill, h, throttle, trouble } from './dom.js';
import { bars, ranks } from './charts.js';
import { bytes, count, plural, short } from './format.js';
import { healthOf } from './health.js';
import { nameOf } from './texts.js';
import { toast } from './toasts.js';

const PROJECTS = 8;
/** The health is looked at again this often. */
const HEALTH_MS = 10_000;

export async function dashboard(world) {
  const parts = ['health', 'tiles', 'days', 'tokens', 'shares', 'dead'].map((name) => h('div', { class: `part-${name}` }));
  const drawn = new Map();
  /** A part is drawn again only if its figures have changed; its open details stay open. */
  const put = (at, data, build) => {
    const key = JSON.stringify(data);
    if (drawn.get(at) === key) return;
    drawn.set(at, key);
    const open = [...parts[at].querySelectorAll('details')].map((one) => one.open);
    fill(parts[at], build());
    parts[at].querySelectorAll('details').forEach((one, n) => (one.open = open[n] ?? false));
  };
  const load = async () => {
    const [stats, dead, status] = await Promise.all([get('/api/stats'), get('/api/queue', { state: 'dead', limit: 20 }), get('/api/processing-status')]);
    const { tokens } = stats;
    put(0, [stats.health, status.paused, stats.vectors.backlog], () => healthOf(stats, world, refresh));
    put(1, [stats.counts, stats.today, tokens.spentToday, tokens.read, stats.queue, stats.database, stats.vectors, status.provider], () => tilesOf(stats, status));
    put(2, stats.perDay, () => daysOf(stats.perDay));
    put(3, tokens.perDay, () => tokensOf(stats));
    put(4, [stats.byType, stats.byProject], () => sharesOf(stats));
    put(5, dead.items, () => dead.items.length > 0 && deadEvents(dead.items, stats.queue.dead, refresh));
  };
  const refresh = () => load().catch((error) => toast(trouble(error)));
  const again = throttle(800, () => parts[0].isConnected && load().catch(() => { /* The stream says when the worker is gone. */ }));
  world.listen(({ name }) => name !== 'connected' && again());
  // Hooks and the pause are not in the database: no event tells of them.
  const timer = setInterval(() => {
    if (!parts[0].isConnected && drawn.size) clearInterval(timer);
    else if (!document.hidden) again();
  }, HEALTH_MS);
  await load();
  return [
    h('h1', {}, 'Dashboard'),
    world.project && h('p', { class: 'note' }, 'All projects together: the choice above does not narrow these figures.'),
    parts,
  ];
}

const tile = (name, figure, note) => h('div', { class: 'tile' }, h('p', { class: 'tile-name' }, name), h('p', { class: 'tile-figure' }, figure), h('p', { class: 'tile-note' }, note));

/** To the last one while it can be read at a glance. */
const figure = (n) => (n < 100_000 ? count(n) : short(n));

function tilesOf(stats, status) {
  const { tokens, queue } = stats;
  const waiting = queue.waiting + queue.leased;
  return h(
    'div',
    { class: 'tiles' },
    tile('Memories today', figure(stats.today.observations), `${plural(stats.today.summaries, 'summary', 'summaries')}, ${plural(stats.today.prompts, 'prompt')}`),
    tile('Memories', figure(stats.counts.observations), `${plural(stats.counts.sessions, 'session')} in ${plural(stats.counts.projects, 'project')}`),
    tile('Tokens injected', figure(tokens.read), h('a', { href: '#/usage' }, 'Is it worth it?')),
    tile('Tokens spent today', figure(tokens.spentToday), spending(tokens, status.provider)),
    tile('Waiting', figure(waiting), waiting ? `events; ${plural(queue.dead, 'failed', 'failed')}` : queue.dead ? plural(queue.dead, 'failed', 'failed') : 'queue empty'),
    tile('On disk', bytes(stats.database.bytes + stats.vectors.bytes), stats.vectors.backlog ? `${plural(stats.vectors.backlog, 'text')} not indexed yet` : `${bytes(stats.vectors.bytes)} for search by meaning`),
  );
}

const daysOf = (perDay) => h('div', { class: 'charts' }, bars('Memories per day', perDay.map((row) => row.day), [
  { name: 'memories', class: 's1', values: perDay.map((row) => row.observations) },
  { name: 'summaries', class: 's2', values: perDay.map((row) => row.summaries) },
  { name: 'prompts', class: 's3', values: perDay.map((row) => row.prompts) },
], (day) => `#/search?${new URLSearchParams({ since: day, until: day })}`));

/** A sentence about the cost of the injected memories; without a model the original work is not measured. */
function tokensNote(tokens) {
  const calls = tokens.calls ? ` ${plural(tokens.calls, 'model call')}.` : '';
  if (!tokens.discovery) return `Original work is not measured without a model.${calls}`;
  return `The injected memories that were used are the result of ${count(tokens.discovery)} tokens of original work; injecting memories took ${count(tokens.read)}.${calls}`;
}

function tokensOf({ perDay, tokens }) {
  const ofDay = new Map(tokens.perDay.map((row) => [row.day, row]));
  const days = perDay.map((row) => row.day);
  return h('div', { class: 'charts' }, bars('Tokens per day', days, [
    { name: 'injected', class: 's1', values: days.map((day) => ofDay.get(day)?.injected ?? 0) },
    { name: 'model calls', class: 's2', values: days.map((day) => ofDay.get(day)?.spent ?? 0) },
  ], (day) => `#/sessions?${new URLSearchParams({ since: day, until: day })}`), ranks('Tokens', [
    tokens.discovery > 0 && { name: 'Original work', count: tokens.discovery, class: 's3', href: '#/usage?days=&list=used' },
    { name: 'Injected into sessions', count: tokens.read, class: 's1', href: '#/usage?days=&list=received' },
    { name: 'Model calls', count: tokens.spentTotal, class: 's2', href: '#/usage?days=&list=calls' },
  ].filter(Boolean), tokensNote(tokens)));
}

const sharesOf = (stats) => h('div', { class: 'charts' },
  ranks('By type', stats.byType.map((row) => ({ name: nameOf(row.type), count: row.count, type: row.type, href: `#/feed?${new URLSearchParams({ type: row.type })}` }))),
  ranks('By project', projects(stats.byProject)));

function spending(tokens, provider) {
  if (!tokens.calls) return 'no model calls';
  if (provider === 'local') return 'the provider is local now';
  return tokens.budgetPerDay ? `of ${short(tokens.budgetPerDay)} a day` : 'the budget is 0';
}

function projects(rows) {
  const shown = rows.slice(0, PROJECTS).map((row) => ({ name: row.project, count: row.count, href: `#/project?project=${row.id}` }));
  const rest = rows.slice(PROJECTS);
  if (rest.length) shown.push({ name: plural(rest.length, 'other'), count: rest.reduce((sum, row) => sum + row.count, 0) });
  return shown;
}

function deadEvents(rows, all, refresh) {
  const act = (run, done) => async () => {
    try {
      if ((await run()) === false) return;
      toast(done);
      refresh();
    } catch (error) {
      toast(trouble(error));
    }
  };
  // A deleted event is gone for good: nothing was made of it yet that could be restored.
  const drop = async (row) => (await ask('Delete this event for good?', 'Delete', 'Keep it')) && remove(`/api/queue/${row.id}`);
  const button = (name, run, done, look) => h('button', { type: 'button', class: look, onclick: act(run, done) }, name);
  const line = (row) =>
    h('li', { class: 'row' },
      h('span', { class: 'row-title' }, `${row.kind} of ${row.session}`),
      h('span', { class: 'meta' }, row.error ?? 'no reason recorded'),
      h('span', { class: 'actions' },
        button('Retry', () => post(`/api/queue/${row.id}/retry`), 'It will be tried again.', 'small'),
        button('Delete', () => drop(row), 'Deleted.', 'small danger')));
  const cut = all > rows.length && h('p', { class: 'note' }, `The first ${rows.length} of ${count(all)}.`);
  return [h('h2', {}, 'Events that could not be processed'), cut, h('ul', { class: 'rows sheet' }, rows.map(line))];
}
