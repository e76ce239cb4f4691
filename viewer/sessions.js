// Sessions, and one of them in full: what was asked, done, told, and what it cost.

import { get } from './api.js';
import { fill, h, state, throttle, trouble } from './dom.js';
import { summary } from './details.js';
import { MemList } from './list.js';
import { isRow, oldestFirst } from './order.js';
import { named, table } from './table.js';
import { ago, day, time } from './times.js';
import { toast } from './toasts.js';
import { count, marked, plural } from './words.js';

const PAGE = 40;

export async function sessions(world) {
  const rows = h('ol', { class: 'rows sheet' });
  let offset = 0;
  let isBusy = false;
  const next = async () => {
    const { items, hasMore } = await get('/api/sessions', { offset, limit: PAGE, project: world.project });
    const lines = items.map(line);
    offset += items.length;
    rows.append(...lines);
    // The button goes with the last page; whoever pressed it goes on with what came.
    if (!hasMore && document.activeElement === more) lines[0]?.querySelector('a').focus();
    more.hidden = !hasMore;
  };
  const press = async () => {
    if (isBusy) return;
    isBusy = true;
    await next().catch((error) => toast(trouble(error)));
    isBusy = false;
  };
  const more = h('button', { type: 'button', hidden: true, onclick: press }, 'More');
  // Whoever reads further down is not sent back to the start.
  const again = world.again(1_000, () => offset <= PAGE);
  world.listen(({ name }) => (name === 'session' || name === 'resumed') && again());
  await next();
  const none = () => state('No sessions yet', 'The next one you start in Claude Code will be here.');
  return [h('h1', {}, 'Sessions'), offset ? rows : none(), more];
}

/** A session of which nothing was heard for so long was left, whatever its client said. */
const QUIET_MS = 3_600_000;
const isGoingOn = (session) => session.status === 'active' && Date.now() - session.lastActivityAt < QUIET_MS;
const statusOf = (session) => (isGoingOn(session) ? 'going on' : session.status === 'active' ? 'left open' : 'ended');
const askedIn = (session) => (session.title ? marked(session.title) : 'A session without a prompt');
const rowsOf = (whole) => [...whole.prompts, ...whole.observations, ...whole.summaries, ...whole.messages].sort(oldestFirst);

function line(session) {
  const summaries = session.summaries > 0 && plural(session.summaries, 'summary', 'summaries');
  const facts = [session.project?.name, plural(session.promptCounter, 'prompt'), plural(session.observations, 'observation'), summaries];
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'row', href: `#/sessions/${session.id}` },
      h('span', { class: 'row-title', dir: 'auto' }, askedIn(session)),
      h('span', { class: 'meta' }, isGoingOn(session) && h('span', { class: 'tag' }, 'going on'), facts.filter(Boolean).map((text) => h('bdi', {}, text))),
      h('time', { class: 'when', datetime: new Date(session.lastActivityAt).toISOString() }, ago(session.lastActivityAt)),
    ),
  );
}

export async function session(world, { rest: id }) {
  const ask = () => get(`/api/sessions/${encodeURIComponent(id)}`);
  let heard = () => {};
  world.listen((event) => heard(event));
  let whole = await ask();
  const [head, cut, told] = [h('div', {}), h('p', { class: 'note' }), h('div', {})];
  const timeline = timelineOf(() => whole);
  const show = () => {
    change(head, [figuresOf(whole), summaryOf(whole)]);
    change(cut, [cutOf(whole)]);
    change(told, [toldOf(whole)]);
  };
  const again = throttle(500, async () => {
    // What cannot be had now is had when the worker is back.
    whole = await ask().catch(() => whole);
    timeline.catchUp();
    show();
  });
  heard = ({ name, data }) => {
    const isOfIt = String(name === 'session' ? data.id : data?.session?.id) === id;
    if (name === 'removed') timeline.list.drop(data.kind, data.id);
    else if (isOfIt && isRow(name)) timeline.list.add(data);
    if (isOfIt || name === 'removed' || name === 'missed' || name === 'resumed') again();
  };
  show();
  return [
    h('p', { class: 'back' }, h('a', { href: '#/sessions' }, '← Sessions')),
    h('h1', { class: 'clamp', dir: 'auto' }, askedIn(whole.session)),
    head,
    h('h2', {}, 'Timeline'),
    cut,
    timeline.list,
    h('h2', {}, 'What it was told'),
    told,
  ];
}

/** Puts it in if it is another than what is there: what is as it was keeps focus and place. */
function change(box, content) {
  const made = fill(box.cloneNode(false), content);
  if (!made.isEqualNode(box)) fill(box, ...made.childNodes);
}

/** All rows of the session in a list, oldest first. They are all here: pages are cut off them. */
function timelineOf(whole) {
  const list = MemList.of({
    compare: oldestFirst,
    card: { inSession: true },
    empty: () => state('Nothing was kept of it', 'It may have been private, or in a project that is ignored.'),
    load: async (after) => {
      const left = rowsOf(whole()).filter((row) => !after || oldestFirst(after, row) < 0);
      return { items: left.slice(0, PAGE), next: left.length > PAGE ? left[PAGE - 1] : null };
    },
  });
  return { list, catchUp: () => rowsOf(whole()).forEach((row) => list.add(row)) };
}

function figuresOf({ session, told, spend }) {
  const figures = [
    ['Project', session.project?.name ?? '–'],
    ['Branch', session.branch ?? '–'],
    ['Started', `${day(session.createdAt)}, ${time(session.createdAt)}`],
    ['Status', statusOf(session)],
    ['Remembered', plural(session.observations, 'observation')],
    ['Was told', told.tokens ? plural(told.tokens, 'token') : 'nothing'],
    ['Cost', spend.tokens ? `${count(spend.tokens)} tokens in ${plural(spend.calls, 'call')}` : 'no tokens'],
  ];
  return h('dl', { class: 'figures' }, figures.map(([name, text]) => h('div', {}, h('dt', {}, name), h('dd', {}, h('bdi', {}, text)))));
}

/** What it came to, at the top; all its summaries stand in the timeline. */
function summaryOf({ summaries }) {
  const newest = summaries.at(-1);
  if (!newest) return null;
  const title = h('p', { class: 'row-title', dir: 'auto' }, marked(newest.request));
  return [h('h2', {}, 'Summary'), h('div', { class: 'sheet summary' }, title, summary(newest))];
}

/** Of a very long session only the newest rows are here, and that is said. */
function cutOf(whole) {
  const { session, hasMore } = whole;
  const all = { observations: session.observations, summaries: session.summaries, prompts: session.promptCounter, messages: null };
  const cut = Object.entries(all).filter(([name]) => hasMore[name]);
  const parts = cut.map(([name, there]) => `${count(whole[name].length)}${there ? ` of ${count(there)}` : ''} ${name === 'messages' ? 'answers' : name}`);
  return parts.length > 0 && `These are the newest: ${parts.join(', ')}.`;
}

const PLACES = { session_start: 'at its start', prompt: 'with a prompt', file: 'with a file', failure: 'after a failure' };

function toldOf({ injections, told }) {
  if (!injections.length) return h('p', { class: 'note' }, 'No memory was given to this session.');
  const columns = [
    { name: 'Memory', cell: (row) => named(row) },
    { name: 'When', cell: (row) => PLACES[row.place] ?? row.place },
    { name: 'Tokens', cell: (row) => count(row.tokens), figure: true },
    { name: 'Because', cell: (row) => row.reason },
  ];
  const first = injections.length < told.memories ? `the last ${count(injections.length)} of ` : '';
  return table('What it was told', columns, injections, `${first}${plural(told.memories, 'memory', 'memories')}, ${plural(told.tokens, 'token')}`);
}
