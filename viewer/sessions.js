// Sessions, and one of them in full: what was asked, done, told, and what it cost.

import { get } from './api.js';
import { h, state, toast, trouble } from './dom.js';
import { MemCard } from './card.js';
import { named, table } from './table.js';
import { ago, day, time } from './times.js';
import { count, marked, plural } from './words.js';

const PAGE = 40;

export async function sessions(world) {
  const rows = h('ol', { class: 'rows sheet' });
  const more = h('button', { type: 'button', hidden: true, onclick: () => next().catch((error) => toast(trouble(error))) }, 'More');
  let offset = 0;
  const next = async () => {
    const { items, hasMore } = await get('/api/sessions', { offset, limit: PAGE, project: world.project });
    offset += items.length;
    more.hidden = !hasMore;
    rows.append(...items.map(line));
  };
  // Whoever reads further down is not sent back to the start.
  const again = world.again(1_000, () => offset <= PAGE);
  world.listen(({ name }) => name === 'session' && again());
  await next();
  const none = () => state('No sessions yet', 'The next one you start in Claude Code will be here.');
  return [h('h1', {}, 'Sessions'), offset ? rows : none(), more];
}

/** A session of which nothing was heard for so long was left, whatever its client said. */
const QUIET_MS = 3_600_000;
const isGoingOn = (session) => session.status === 'active' && Date.now() - session.lastActivityAt < QUIET_MS;
const statusOf = (session) => (isGoingOn(session) ? 'going on' : session.status === 'active' ? 'left open' : 'ended');
const titleOf = (session) => (session.title ? marked(session.title) : 'A session without a prompt');

function line(session) {
  const facts = [session.project?.name, plural(session.promptCounter, 'prompt'), plural(session.observations, 'observation'), session.summaries > 0 && plural(session.summaries, 'summary', 'summaries')];
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'row', href: `#/sessions/${session.id}` },
      h('span', { class: 'row-title' }, titleOf(session)),
      h('span', { class: 'meta' }, isGoingOn(session) && h('span', { class: 'tag' }, 'going on'), facts.filter(Boolean).map((text) => h('span', {}, text))),
      h('time', { class: 'when', datetime: new Date(session.lastActivityAt).toISOString() }, ago(session.lastActivityAt)),
    ),
  );
}

export async function session(world, { rest: id }) {
  const again = world.again(500);
  world.listen(({ name, data }) => String(name === 'session' ? data.id : data.session?.id) === id && again());
  const whole = await get(`/api/sessions/${encodeURIComponent(id)}`);
  const { session } = whole;
  const timeline = [...whole.prompts, ...whole.observations, ...whole.messages].sort((a, b) => a.createdAt - b.createdAt || a.id - b.id);
  const newest = whole.summaries.at(-1);
  const told = whole.injections.reduce((sum, row) => sum + row.tokens, 0);
  const figures = [
    ['Project', session.project?.name ?? '–'],
    ['Branch', session.branch ?? '–'],
    ['Started', `${day(session.createdAt)}, ${time(session.createdAt)}`],
    ['Status', statusOf(session)],
    ['Remembered', plural(whole.observations.length, 'observation')],
    ['Was told', told ? plural(told, 'token') : 'nothing'],
    ['Cost', whole.spend.tokens ? `${count(whole.spend.tokens)} tokens in ${plural(whole.spend.calls, 'call')}` : 'no tokens'],
  ];
  return [
    h('p', { class: 'back' }, h('a', { href: '#/sessions' }, '← Sessions')),
    h('h1', { class: 'clamp' }, titleOf(session)),
    h('dl', { class: 'figures' }, figures.map(([name, text]) => h('div', {}, h('dt', {}, name), h('dd', {}, text)))),
    newest && [h('h2', {}, 'Summary'), h('div', { class: 'sheet' }, MemCard.of(newest, { open: true, inSession: true }))],
    h('h2', {}, 'Timeline'),
    timeline.length ? h('div', { class: 'sheet' }, timeline.map((row) => MemCard.of(row, { inSession: true }))) : state('Nothing was kept of it', 'It may have been private, or in a project that is ignored.'),
    h('h2', {}, 'What it was told'),
    whole.injections.length ? toldOf(whole.injections, told) : h('p', { class: 'note' }, 'No memory was given to this session.'),
  ];
}

const PLACES = { session_start: 'at its start', prompt: 'with a prompt', file: 'with a file', failure: 'after a failure' };

function toldOf(injections, total) {
  const columns = [
    { name: 'Memory', cell: (row) => named(row) },
    { name: 'When', cell: (row) => PLACES[row.place] ?? row.place },
    { name: 'Tokens', cell: (row) => count(row.tokens), figure: true },
    { name: 'Because', cell: (row) => row.reason },
  ];
  return table('What it was told', columns, injections, `${plural(injections.length, 'memory', 'memories')}, ${plural(total, 'token')}`);
}
