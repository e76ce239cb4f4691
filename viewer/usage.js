// Usage: is it worth it? What sessions received and what they used of it, from the ledger alone.

import { get } from './api.js';
import { fill, h, state, trouble } from './dom.js';
import { ago } from './dates.js';
import { ranks } from './charts.js';
import { count, mark, plural, short } from './format.js';
import { openPanel } from './provenance.js';
import { forgetAll, forgetRows } from './selection.js';
import { named, table } from './table.js';
import { toast } from './toasts.js';

const PERIODS = [['7', '7 days', 'In the last 7 days'], ['30', '30 days', 'In the last 30 days'], ['90', '90 days', 'In the last 90 days'], ['', 'All', 'So far']];

export async function usage(world, { params }) {
  const days = params.get('days') ?? '7';
  const [, , when] = PERIODS.find(([value]) => value === days) ?? PERIODS[0];
  const box = h('div', {});
  const load = async () => {
    const found = await get('/api/usage', { days, project: world.project });
    fill(box, found.received ? content(found, when, load, world) : state('No session received memories in this period', 'Choose a longer period, or look at the context preview.'));
  };
  await load();
  world.listen(({ name }) => name === 'resumed' && load().catch(() => { /* The stream says when the worker is gone. */ }));
  const pick = ([value, name]) => h('a', { class: 'pick', href: `#/usage?days=${value}`, 'aria-current': value === days ? 'true' : null }, name);
  return [h('div', { class: 'bar-top' }, h('h1', {}, 'Usage'), h('nav', { class: 'picks', 'aria-label': 'Period' }, PERIODS.map(pick))), box];
}

function content(found, when, load, world) {
  const never = found.neverUsed;
  const forget = async () => {
    try {
      if (await forgetAll(never, `Forget these ${never.length} memories?`)) await load();
    } catch (error) {
      toast(trouble(error));
    }
  };
  const columns = (figure) => [
    { name: 'Memory', cell: (row) => named(row, mark(row.type)) },
    ...figure,
    { name: 'Last', cell: (row) => ago(row.lastAt) },
    { name: '', cell: (row) => row.kind === 'observation' && h('button', { type: 'button', class: 'small', 'aria-label': `Source and use of ${row.handle}`, onclick: () => open(row) }, 'Source and use') },
  ];
  const open = async (row) => openPanel(await get(`/api/observations/${row.id}`));
  const figure = (name, key) => ({ name, cell: (row) => count(row[key]), figure: true });
  return [
    h('p', { class: 'lead' }, `${when} ${plural(found.sessions, 'session')} received ${plural(found.memories, 'memory', 'memories')}${found.received > found.memories ? `, ${count(found.received)} times in all` : ''}: ${short(found.tokens)} tokens. ${usedOf(found)}`),
    h(
      'div',
      { class: 'charts level' },
      ranks('From received to used', [
        { name: 'Received', count: found.memories, class: 's1', href: '#usage-never' },
        { name: 'Fetched in full', count: found.fetched, class: 's2', href: '#usage-most' },
        { name: 'Cited', count: found.cited, class: 's3', href: '#usage-most' },
      ], 'Different memories. Used means that a session fetched the full text or cited the memory.'),
      ranks('Received by project', found.byProject.map((row) => ({ name: row.project, count: row.received, class: 's1', href: row.id ? `#/usage?days=${new URLSearchParams(location.hash.split('?')[1]).get('days') ?? '7'}&project=${row.id}` : null }))),
    ),
    h('h2', { id: 'usage-most' }, 'Most used'),
    found.mostUsed.length ? table('Most used', columns([figure('Fetched', 'fetched'), figure('Cited', 'cited')]), found.mostUsed) : h('p', { class: 'note' }, 'No memory was fetched or cited in this period.'),
    h('div', { class: 'bar-top part-head', id: 'usage-never' }, h('h2', {}, 'Received and never used'), never.length > 0 && h('button', { type: 'button', class: 'small danger', onclick: forget }, `Forget all ${never.length}`)),
    never.length ? neverTable(never, columns([figure('Received', 'received'), figure('Tokens', 'tokens')]), load) : h('p', { class: 'note' }, 'Every received memory was used.'),
    world.project && h('p', { class: 'note' }, 'Only memories of the chosen project.'),
  ];
}

const usedOf = ({ used, memories }) => (used === 0 ? 'None was used.' : used === memories ? 'All were used.' : `${count(used)} of them ${used === 1 ? 'was' : 'were'} used.`);

/** The table with a Forget button on each row. */
function neverTable(rows, columns, load) {
  const forget = async (row) => {
    try {
      await forgetRows([row]);
      await load();
    } catch (error) {
      toast(trouble(error));
    }
  };
  const last = columns.at(-1);
  const actions = (row) => h('span', { class: 'actions nowrap' }, last.cell(row), h('button', { type: 'button', class: 'small danger', 'aria-label': `Forget ${row.handle}`, onclick: () => forget(row) }, 'Forget'));
  return table('Received and never used', [...columns.slice(0, -1), { name: '', cell: actions }], rows);
}
