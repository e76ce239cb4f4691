// How much there is, what it cost, what it saved, and whether all is well.

import { get, post, remove } from './api.js';
import { ask, coded, h, trouble } from './dom.js';
import { bars, ranks } from './charts.js';
import { toast } from './toasts.js';
import { bytes, count, nameOf, plural, short } from './words.js';

const PROJECTS = 8;

export async function dashboard(world) {
  const again = world.again(800);
  world.listen(({ name }) => name !== 'connected' && again());
  const [stats, dead, status] = await Promise.all([get('/api/stats'), get('/api/queue', { state: 'dead', limit: 20 }), get('/api/processing-status')]);
  const { tokens, queue } = stats;
  const days = stats.perDay.map((row) => row.day);
  const ofDay = new Map(tokens.perDay.map((row) => [row.day, row]));
  const waiting = queue.waiting + queue.leased;
  return [
    h('h1', {}, 'Dashboard'),
    world.project && h('p', { class: 'note' }, 'All projects together: the choice above does not narrow these figures.'),
    health(stats.health),
    h(
      'div',
      { class: 'tiles' },
      tile('Remembered today', figure(stats.today.observations), `${plural(stats.today.summaries, 'summary', 'summaries')}, ${plural(stats.today.prompts, 'prompt')}`),
      tile('Observations in all', figure(stats.counts.observations), `${plural(stats.counts.sessions, 'session')} in ${plural(stats.counts.projects, 'project')}`),
      tile('Tokens saved', figure(tokens.saved), saving(tokens)),
      tile('Tokens spent today', figure(tokens.spentToday), spending(tokens, status.provider)),
      tile('Waiting', figure(waiting), waiting ? `events; ${plural(queue.dead, 'failed', 'failed')}` : queue.dead ? plural(queue.dead, 'failed', 'failed') : 'nothing to do'),
      tile('On disk', bytes(stats.database.bytes + stats.vectors.bytes), stats.vectors.backlog ? `${plural(stats.vectors.backlog, 'row')} still to be indexed` : `${bytes(stats.vectors.bytes)} of it to search by meaning`),
    ),
    h(
      'div',
      { class: 'charts' },
      bars('Memories per day', days, [
        { name: 'observations', class: 's1', values: stats.perDay.map((row) => row.observations) },
        { name: 'summaries', class: 's2', values: stats.perDay.map((row) => row.summaries) },
        { name: 'prompts', class: 's3', values: stats.perDay.map((row) => row.prompts) },
      ]),
      bars('Tokens per day', days, [
        { name: 'told to sessions', class: 's1', values: days.map((day) => ofDay.get(day)?.injected ?? 0) },
        { name: 'spent on a model', class: 's2', values: days.map((day) => ofDay.get(day)?.spent ?? 0) },
      ]),
      ranks(
        'Tokens, spent against saved',
        [
          { name: 'Finding it out', count: tokens.discovery, class: 's3' },
          { name: 'Telling it again', count: tokens.read, class: 's1' },
          { name: 'Asking a model', count: tokens.spentTotal, class: 's2' },
        ],
        `What sessions were told had cost ${count(tokens.discovery)} tokens to find out and cost ${count(tokens.read)} to tell${tokens.calls ? `; ${plural(tokens.calls, 'call')} to a model` : ''}.`,
      ),
      ranks('By type', stats.byType.map((row) => ({ name: nameOf(row.type), count: row.count, type: row.type, href: `#/feed?${new URLSearchParams({ type: row.type })}` }))),
      ranks('By project', projects(stats.byProject)),
    ),
    dead.items.length > 0 && deadEvents(dead.items, queue.dead, world),
  ];
}

const tile = (name, figure, note) => h('div', { class: 'tile' }, h('p', { class: 'tile-name' }, name), h('p', { class: 'tile-figure' }, figure), h('p', { class: 'tile-note' }, note));

/** To the last one while it can be read at a glance. */
const figure = (n) => (n < 100_000 ? count(n) : short(n));

function saving(tokens) {
  if (tokens.saved) return 'by telling instead of finding out again';
  return tokens.read ? 'what was told was cheap to find out' : 'counted when sessions are told something';
}

function spending(tokens, provider) {
  if (!tokens.calls) return 'no model has been asked';
  if (provider === 'local') return 'no model is asked any more';
  return tokens.budgetPerDay ? `of ${short(tokens.budgetPerDay)} a day` : 'the budget forbids any';
}

function projects(rows) {
  const shown = rows.slice(0, PROJECTS).map((row) => ({ name: row.project, count: row.count }));
  const rest = rows.slice(PROJECTS);
  if (rest.length) shown.push({ name: plural(rest.length, 'other'), count: rest.reduce((sum, row) => sum + row.count, 0) });
  return shown;
}

function health(problems) {
  if (!problems.length) return h('p', { class: 'note ok' }, 'All is well.');
  return h('ul', { class: 'problems' }, problems.map(({ problem, fix }) => h('li', {}, coded(problem), fix && [': ', h('code', {}, fix)])));
}

function deadEvents(rows, all, world) {
  const act = (run, done) => async () => {
    try {
      if ((await run()) === false) return;
      toast(done);
      world.refresh();
    } catch (error) {
      toast(trouble(error));
    }
  };
  // What is dropped is gone for good: nothing was made of it yet that could be brought back.
  const drop = async (row) => (await ask('Drop this event for good?', 'Drop', 'Keep it')) && remove(`/api/queue/${row.id}`);
  const button = (name, run, done, look) => h('button', { type: 'button', class: look, onclick: act(run, done) }, name);
  const line = (row) =>
    h('li', { class: 'row' },
      h('span', { class: 'row-title' }, `${row.kind} of ${row.session}`),
      h('span', { class: 'meta' }, row.error ?? 'no reason was given'),
      h('span', { class: 'actions' },
        button('Retry', () => post(`/api/queue/${row.id}/retry`), 'It will be tried again.', 'small'),
        button('Drop', () => drop(row), 'Dropped.', 'small danger')));
  const cut = all > rows.length && h('p', { class: 'note' }, `The first ${rows.length} of ${count(all)}.`);
  return [h('h2', {}, 'Events that could not be processed'), cut, h('ul', { class: 'rows sheet' }, rows.map(line))];
}
