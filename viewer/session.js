// One session: its figures, its account, and its turns with the memories that it received in place.

import { get } from './api.js';
import { fill, h, state, throttle } from './dom.js';
import { day, duration, time } from './dates.js';
import { accountOf, summary } from './details.js';
import { count, isAlike, marked, plural } from './format.js';
import { injectionsOf, MemInjection } from './injection.js';
import { MemCard } from './card.js';
import { MemList } from './list.js';
import { isRow, oldestFirst } from './rowOrder.js';
import { purposeOf, statusOf, titleOfSession } from './sessions.js';

const PAGE = 40;
/** Kinds of rows that repeat what the memories of their turn say. */
const AFTERWARDS = new Set(['summary', 'message']);

const turnOf = (row) => (row.kind === 'prompt' ? row.number : (row.promptNumber ?? 0));
/** A turn begins with its prompt, whatever the clocks of its rows say. */
const rankOf = (row) => (row.kind === 'prompt' ? 0 : 1);
const byTurn = (a, b) => turnOf(a) - turnOf(b) || rankOf(a) - rankOf(b) || oldestFirst(a, b);
const rowsOf = (whole) => [...whole.prompts, ...whole.observations, ...whole.summaries, ...whole.messages, ...injectionsOf(whole)].sort(byTurn);

export async function session(world, { rest: id, params }) {
  const ask = () => get(`/api/sessions/${encodeURIComponent(id)}`);
  const turn = Number(params.get('turn') ?? 0);
  let heard = () => {};
  world.listen((event) => heard(event));
  let whole = await ask();
  const [head, cut] = [h('div', {}), h('p', { class: 'note' })];
  const timeline = timelineOf(() => whole, turn);
  const show = () => {
    change(head, [figuresOf(whole), accountOrSummary(whole)]);
    change(cut, [cutOf(whole)]);
  };
  const again = throttle(500, async () => {
    // A failed request is repeated when the worker is back.
    whole = await ask().catch(() => whole);
    timeline.catchUp();
    show();
  });
  heard = ({ name, data }) => {
    const isOfIt = String(name === 'session' ? data.id : data?.session?.id) === id;
    if (name === 'removed') timeline.list.drop(data.kind, data.id);
    else if (isOfIt && isRow(name) && name !== 'account') timeline.list.add(data);
    if (isOfIt || name === 'removed' || name === 'missed' || name === 'resumed') again();
  };
  show();
  if (turn) timeline.goTo(turn);
  const title = titleOfSession(whole.session);
  return {
    title: `Session: ${purposeOf(whole.session)}`,
    content: [
      h('p', { class: 'back' }, h('a', { href: '#/sessions', 'data-back': '' }, '← Sessions')),
      h('h1', { class: 'clamp', dir: 'auto' }, title),
      head,
      h('h2', {}, 'Timeline'),
      cut,
      timeline.list,
    ],
    update: ({ params: next }) => {
      const number = Number(next.get('turn') ?? 0);
      if (number) timeline.goTo(number);
    },
  };
}

/** Replaces the content if it differs: unchanged content keeps its focus and place. */
function change(box, content) {
  const made = fill(box.cloneNode(false), content);
  if (!made.isEqualNode(box)) fill(box, ...made.childNodes);
}

/** All rows of the session, oldest first. They are all here: pages are cut off them. */
function timelineOf(whole, firstTurn) {
  const list = MemList.of({
    compare: byTurn,
    headingOf: (row) => (turnOf(row) > 0 ? `Turn ${turnOf(row)}` : 'Before the first turn'),
    card: { inSession: true },
    make: (row, { open, ...more }) => (row.kind === 'injection' ? MemInjection.of(row, more) : MemCard.of(row, { open: open(row.handle), quiet: AFTERWARDS.has(row.kind), ...more })),
    empty: () => state('Nothing of this session is stored', 'It was private, or its project is ignored.'),
    load: async (after) => {
      const left = rowsOf(whole()).filter((row) => !after || byTurn(after, row) < 0);
      const last = after ? -1 : left.findLastIndex((row) => turnOf(row) === firstTurn);
      const size = Math.max(PAGE, last + 1);
      return { items: left.slice(0, size), next: left.length > size ? left[size - 1] : null };
    },
  });
  const goTo = async (number) => {
    await new Promise(requestAnimationFrame);
    await list.ready;
    const item = [...list.querySelectorAll('.item')].find((one) => turnOf(one.row) === number);
    if (!item) return;
    const heading = item.previousElementSibling;
    (heading?.matches('.day') ? heading : item).scrollIntoView({ block: 'start' });
    item.classList.add('target');
    item.querySelector('.card-toggle, summary')?.focus({ preventScroll: true });
  };
  return { list, goTo, catchUp: () => rowsOf(whole()).forEach((row) => list.add(row)) };
}

function figuresOf({ session, told, spend, account }) {
  const files = session.filesEdited.join(', ') + (session.files > session.filesEdited.length ? ` +${session.files - session.filesEdited.length}` : '');
  const figures = [
    ['Project', session.project?.name],
    ['Agent', session.agent.title],
    ['Branch', session.branch],
    ['Started', `${day(session.createdAt)}, ${time(session.createdAt)}`],
    ['Duration', duration(session.lastActivityAt - session.createdAt)],
    ['Status', statusOf(session)],
    ['Memories', count(session.observations)],
    ['Received', told.tokens && `${plural(told.memories, 'memory', 'memories')}, ${plural(told.tokens, 'token')}`],
    ['Model calls', spend.tokens && `${count(spend.tokens)} tokens in ${plural(spend.calls, 'call')}`],
    // The account lists them.
    ['Files edited', !account && files],
  ].filter(([, text]) => text);
  return h('dl', { class: 'figures' }, figures.map(([name, text]) => h('div', {}, h('dt', {}, name), h('dd', {}, h('bdi', {}, text)))));
}

/** The account of all turns; in an older store the last summary. */
function accountOrSummary({ account, session, summaries }) {
  if (account) return [h('h2', {}, 'Account'), h('div', { class: 'sheet summary' }, !isAlike(account.purpose, purposeOf(session)) && h('p', { class: 'purpose', dir: 'auto' }, marked(account.purpose)), accountOf(account))];
  const newest = summaries.at(-1);
  if (!newest) return null;
  return [h('h2', {}, 'Summary of the last turn'), h('div', { class: 'sheet summary' }, h('p', { class: 'purpose', dir: 'auto' }, marked(newest.request)), summary(newest))];
}

/** Of a very long session only the newest rows are here, and that is said. */
function cutOf(whole) {
  const { session, hasMore } = whole;
  const all = { observations: session.observations, summaries: session.summaries, prompts: session.promptCounter, messages: null };
  const cut = Object.entries(all).filter(([name]) => hasMore[name]);
  const parts = cut.map(([name, there]) => `${count(whole[name].length)}${there ? ` of ${count(there)}` : ''} ${{ messages: 'replies', observations: 'memories' }[name] ?? name}`);
  return parts.length > 0 && `These are the newest: ${parts.join(', ')}.`;
}
