// How much there is, what it cost, what it saved, and whether all is well.

import { get, post, remove } from './api.js';
import { h, toast } from './dom.js';
import { bars, ranks } from './charts.js';
import { bytes, count, plural } from './words.js';

export async function dashboard(world) {
  const [stats, dead] = await Promise.all([get('/api/stats'), get('/api/queue', { state: 'dead', limit: 20 })]);
  const days = stats.perDay.map((row) => row.day);
  const tokens = new Map(stats.tokens.perDay.map((row) => [row.day, row]));
  return [
    h('h1', {}, 'Dashboard'),
    health(stats.health),
    h(
      'div',
      { class: 'tiles' },
      tile('Remembered today', plural(stats.today.observations, 'observation'), `${plural(stats.today.summaries, 'summary', 'summaries')}, ${plural(stats.today.prompts, 'prompt')}`),
      tile('In all', plural(stats.counts.observations, 'observation'), `${plural(stats.counts.sessions, 'session')} in ${plural(stats.counts.projects, 'project')}`),
      tile('Spent today', `${count(stats.tokens.spentToday)} tokens`, stats.tokens.budgetPerDay ? `of ${count(stats.tokens.budgetPerDay)} a day` : 'no model is used'),
      tile('Saved', `${count(stats.tokens.saved)} tokens`, `found out for ${count(stats.tokens.discovery)}, read for ${count(stats.tokens.read)}`),
      tile('Queue', plural(stats.queue.waiting + stats.queue.leased, 'event'), `${count(stats.queue.dead)} dead, ${count(stats.vectors.backlog)} to index`),
      tile('On disk', bytes(stats.database.bytes + stats.vectors.bytes), `${bytes(stats.database.bytes)} memory, ${bytes(stats.vectors.bytes)} vectors`),
    ),
    h(
      'div',
      { class: 'charts' },
      bars('Memories per day', days, [
        { name: 'observations', class: 's1', values: stats.perDay.map((row) => row.observations) },
        { name: 'summaries', class: 's2', values: stats.perDay.map((row) => row.summaries) },
      ]),
      bars('Tokens per day', days, [
        { name: 'spent', class: 's2', values: days.map((day) => tokens.get(day)?.spent ?? 0) },
        { name: 'given to sessions', class: 's1', values: days.map((day) => tokens.get(day)?.injected ?? 0) },
      ]),
      ranks('By type', stats.byType.map((row) => ({ name: row.type, count: row.count }))),
      ranks('By project', stats.byProject.slice(0, 10).map((row) => ({ name: row.project, count: row.count }))),
    ),
    dead.items.length > 0 && deadEvents(dead.items, world),
  ];
}

const tile = (name, figure, note) => h('div', { class: 'tile' }, h('p', { class: 'tile-name' }, name), h('p', { class: 'tile-figure' }, figure), h('p', { class: 'meta' }, h('span', {}, note)));

function health(problems) {
  if (!problems.length) return h('p', { class: 'note ok' }, 'All is well.');
  return h('ul', { class: 'problems' }, problems.map(({ problem, fix }) => h('li', {}, problem, fix && [' — run ', h('code', {}, fix)])));
}

function deadEvents(rows, world) {
  const act = (run, done) => async () => {
    try {
      await run();
      toast(done);
      world.refresh();
    } catch (error) {
      toast(error.message);
    }
  };
  return [
    h('h2', {}, 'Events that could not be processed'),
    h(
      'ul',
      { class: 'rows' },
      rows.map((row) =>
        h(
          'li',
          { class: 'row' },
          h('span', { class: 'row-title' }, `${row.kind} of ${row.session}`),
          h('span', { class: 'meta' }, h('span', {}, row.error ?? 'no reason was given')),
          h('span', { class: 'actions' },
            h('button', { type: 'button', class: 'quiet', onclick: act(() => post(`/api/queue/${row.id}/retry`), 'It will be tried again.') }, 'Retry'),
            h('button', { type: 'button', class: 'quiet danger', onclick: act(() => remove(`/api/queue/${row.id}`), 'Dropped.') }, 'Drop')),
        ),
      ),
    ),
  ];
}
