// Usage: which memories sessions received and which of them they used, from the ledger alone.

import { get } from './api.js';
import { h, redraw, state, trouble } from './dom.js';
import { ago, dateTime } from './dates.js';
import { ranks } from './charts.js';
import { exportButton } from './exportRows.js';
import { forgetAll, forgetRows } from './forget.js';
import { count, mark, plural, short } from './format.js';
import { openPanel } from './provenance.js';
import { roving } from './roving.js';
import { named, table } from './table.js';
import { toast } from './toasts.js';

const PERIODS = [['7', '7 days', 'In the last 7 days'], ['30', '30 days', 'In the last 30 days'], ['90', '90 days', 'In the last 90 days'], ['', 'All', 'So far']];
/** The lists that bars lead to. */
const LISTS = {
  received: ['Received', 'Memories that sessions received'],
  fetched: ['Fetched in full', 'Memories whose full text a session fetched'],
  cited: ['Cited', 'Memories that an agent cited'],
  used: ['Used', 'Memories that were fetched or cited'],
  calls: ['Model calls', 'Calls of a model that makes memories'],
};
/** Model calls that are listed. */
const CALLS = 100;

export async function usage(world, { params }) {
  const days = params.get('days') ?? '7';
  const list = LISTS[params.get('list')] ? params.get('list') : '';
  const [, , when] = PERIODS.find(([value]) => value === days) ?? PERIODS[0];
  const address = (more) => `#/usage?${new URLSearchParams({ days, ...(list && { list }), ...(world.project && { project: world.project }), ...more })}`;
  const box = h('div', {});
  let listed = () => [];
  const load = async () => {
    if (list === 'calls') {
      const { items } = await get('/api/spend', { limit: CALLS });
      listed = () => items;
      redraw(box, callsOf(items));
      return;
    }
    const found = await get('/api/usage', { days, project: world.project, list });
    listed = () => (list ? found.listed : [...found.mostUsed, ...found.neverUsed]);
    if (!found.received) redraw(box, state('No session received memories in this period', 'Choose a longer period, or look at the context preview.'));
    else redraw(box, leadOf(found, when), list ? listOf(list, found.listed) : content(found, load, address), world.project && h('p', { class: 'note' }, 'Only memories of the chosen project.'));
  };
  await load();
  world.listen(({ name }) => name === 'resumed' && load().catch(() => { /* The stream reports that the worker is gone. */ }));
  const pick = ([value, name]) => h('a', { class: 'pick', href: address({ days: value }), 'aria-current': value === days ? 'true' : null }, name);
  const periods = list !== 'calls' && roving(h('nav', { class: 'picks', 'aria-label': 'Period' }, PERIODS.map(pick)));
  const back = list && h('p', { class: 'back' }, h('a', { href: `#/usage?${new URLSearchParams({ days })}` }, '← Usage'));
  const title = list ? `Usage: ${LISTS[list][0]}` : 'Usage';
  return { title, content: [back, h('div', { class: 'bar-top' }, h('h1', {}, title), h('div', { class: 'actions' }, periods, exportButton(() => listed(), list || 'usage'))), box] };
}

const leadOf = (found, when) => h('p', { class: 'lead' }, `${when} ${plural(found.sessions, 'session')} received ${plural(found.memories, 'memory', 'memories')}${found.received > found.memories ? `, ${count(found.received)} times in all` : ''}: ${short(found.tokens)} tokens. ${usedOf(found)}`);
const usedOf = ({ used, memories }) => (used === 0 ? 'None was used.' : used === memories ? 'All were used.' : `${count(used)} of them ${used === 1 ? 'was' : 'were'} used.`);

const figure = (name, key) => ({ name, cell: (row) => count(row[key]), figure: true });
const openRow = async (row) => openPanel(await get(`/api/observations/${row.id}`));
const columns = (figures) => [
  { name: 'Memory', cell: (row) => named(row, mark(row.type)) },
  ...figures,
  { name: 'Last', cell: (row) => ago(row.lastAt) },
  { name: '', cell: (row) => row.kind === 'observation' && h('button', { type: 'button', class: 'small nowrap', 'aria-label': `Source and use of ${row.handle}`, onclick: () => openRow(row).catch((error) => toast(trouble(error))) }, 'Source and use') },
];

/** The memories of one bar. */
function listOf(list, rows) {
  const [name, about] = LISTS[list];
  if (!rows.length) return h('p', { class: 'note' }, `${about}: none in this period.`);
  const figures = [figure('Received', 'received'), figure('Fetched', 'fetched'), figure('Cited', 'cited'), figure('Tokens', 'tokens')];
  return [h('p', { class: 'soft' }, `${about}, most often first.`), table(name, columns(figures), rows)];
}

function callsOf(items) {
  if (!items.length) return state('No model calls', 'Memories are made locally, or no call was made yet.');
  return table('Model calls', [
    { name: 'Time', cell: (row) => dateTime(row.createdAt) },
    { name: 'Model', cell: (row) => row.model },
    { name: 'Purpose', cell: (row) => row.purpose ?? '' },
    { name: 'Tokens', cell: (row) => count((row.inputTokens ?? 0) + (row.outputTokens ?? 0)), figure: true },
  ], items);
}

function content(found, load, address) {
  const never = found.neverUsed;
  const forget = async () => {
    try {
      await forgetAll(never, load);
    } catch (error) {
      toast(trouble(error));
    }
  };
  return [
    h(
      'div',
      { class: 'charts level' },
      ranks('From received to used', [
        { name: 'Received', count: found.memories, class: 's1', href: address({ list: 'received' }) },
        { name: 'Fetched in full', count: found.fetched, class: 's2', href: address({ list: 'fetched' }) },
        { name: 'Cited', count: found.cited, class: 's3', href: address({ list: 'cited' }) },
      ], 'Each memory counts once. Used means that a session fetched its full text or cited it.'),
      ranks('Received by project', found.byProject.map((row) => ({ name: row.project, count: row.received, class: 's1', href: row.id ? address({ project: row.id }) : null }))),
    ),
    h('h2', {}, 'Most used'),
    found.mostUsed.length ? table('Most used', columns([figure('Fetched', 'fetched'), figure('Cited', 'cited')]), found.mostUsed) : h('p', { class: 'note' }, 'No memory was fetched or cited in this period.'),
    h('div', { class: 'bar-top part-head' }, h('h2', {}, 'Received and never used'), never.length > 0 && h('button', { type: 'button', class: 'small danger', onclick: forget }, `Forget all ${never.length}`)),
    never.length ? neverTable(never, columns([figure('Received', 'received'), figure('Tokens', 'tokens')]), load) : h('p', { class: 'note' }, 'Every received memory was used.'),
  ];
}

/** The table with a Forget button on each row. */
function neverTable(rows, all, load) {
  const forget = (row) => forgetRows([row], { changed: load }).catch((error) => toast(trouble(error)));
  const last = all.at(-1);
  const actions = (row) => h('span', { class: 'actions nowrap' }, last.cell(row), h('button', { type: 'button', class: 'small danger', 'aria-label': `Forget ${row.handle}`, onclick: () => forget(row) }, 'Forget'));
  return table('Received and never used', [...all.slice(0, -1), { name: '', cell: actions }], rows);
}
