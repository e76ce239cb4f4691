// Sessions, and one of them in full: what was asked, done, told, and what it cost.

import { get } from './api.js';
import { fill, h, loading, state } from './dom.js';
import { MemCard } from './card.js';
import { ago, count, day, plural, time } from './words.js';

const PAGE = 40;

export async function sessions(world) {
  const rows = h('ol', { class: 'rows' });
  const more = h('button', { type: 'button', hidden: true, onclick: () => next() }, 'More');
  let offset = 0;
  const next = async () => {
    const { items, hasMore } = await get('/api/sessions', { offset, limit: PAGE, project: world.project });
    offset += items.length;
    more.hidden = !hasMore;
    rows.append(...items.map(line));
    if (!offset) rows.replaceWith(state('No sessions yet', 'The next one you start in Claude Code will be here.'));
  };
  await next();
  return [h('h1', {}, 'Sessions'), rows, more];
}

function line(session) {
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'row', href: `#/sessions/${session.id}` },
      h('span', { class: 'row-title' }, session.title || 'A session without a prompt'),
      h('span', { class: 'meta' }, [session.project?.name, session.status, plural(session.promptCounter, 'prompt'), plural(session.observations, 'observation'), ago(session.lastActivityAt)].filter(Boolean).map((text) => h('span', {}, text))),
    ),
  );
}

export async function session(world, id) {
  const whole = await get(`/api/sessions/${encodeURIComponent(id)}`);
  const { session } = whole;
  const timeline = [...whole.prompts, ...whole.messages, ...whole.observations].sort((a, b) => a.createdAt - b.createdAt);
  const newest = whole.summaries.at(-1) ?? null;
  const figures = [
    ['Project', session.project?.name ?? '–'],
    ['Branch', session.branch ?? '–'],
    ['Status', session.status],
    ['Started', `${day(session.createdAt)} ${time(session.createdAt)}`],
    ['Remembered', plural(whole.observations.length, 'observation')],
    ['Cost', whole.spend.tokens ? `${count(whole.spend.tokens)} tokens in ${plural(whole.spend.calls, 'call')}` : 'nothing'],
  ];
  return [
    h('p', {}, h('a', { href: '#/sessions' }, '← Sessions')),
    h('h1', {}, session.title || 'A session without a prompt'),
    h('dl', { class: 'figures' }, figures.map(([name, text]) => h('div', {}, h('dt', {}, name), h('dd', {}, text)))),
    newest && [h('h2', {}, 'Summary'), MemCard.of(newest, { open: true })],
    h('h2', {}, 'Timeline'),
    timeline.length ? h('div', { class: 'timeline' }, timeline.map((row) => MemCard.of(row))) : state('Nothing was kept of it'),
    h('h2', {}, 'What it was told'),
    whole.injections.length ? told(whole.injections) : h('p', { class: 'note' }, 'No memory was given to this session.'),
  ];
}

function told(injections) {
  const head = ['Memory', 'Where', 'Score', 'Tokens', 'Why'].map((name) => h('th', { scope: 'col' }, name));
  const total = injections.reduce((sum, row) => sum + row.tokens, 0);
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'What it was told' },
    h(
      'table',
      {},
      h('caption', {}, `${plural(injections.length, 'memory', 'memories')}, ${count(total)} tokens`),
      h('thead', {}, h('tr', {}, head)),
      h('tbody', {}, injections.map((row) => h('tr', {}, h('td', {}, `${row.handle} ${row.title ?? ''}`), h('td', {}, row.place), h('td', {}, row.score?.toFixed(2) ?? '–'), h('td', {}, count(row.tokens)), h('td', {}, row.reason)))),
    ),
  );
}
