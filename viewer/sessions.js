// The list of sessions, by day, with the outcome of each.

import { agentFilter } from './agents.js';
import { get } from './api.js';
import { fill, h, state, throttle, trouble } from './dom.js';
import { date, day, duration, time } from './dates.js';
import { exportButton } from './exportRows.js';
import { baseName, isAlike, marked, plural, withoutHeadingMark } from './format.js';
import { toast } from './toasts.js';

const PAGE = 40;
const PERIODS = [['', 'Any time'], ['1d', 'Last 24 hours'], ['7d', 'Last 7 days'], ['30d', 'Last 30 days'], ['90d', 'Last 90 days']];

export async function sessions(world, { params }) {
  let since = params.get('since') ?? '';
  let until = params.get('until') ?? '';
  let agent = params.get('agent') ?? '';
  const rows = h('div', { class: 'session-days' });
  let known = [];
  let isBusy = false;
  let wanted = '';
  const load = (offset, limit) => get('/api/sessions', { offset, limit, project: world.project, since, until, agent });
  const listed = () => known.filter((one) => !wanted || textOf(one).includes(wanted));
  const draw = () => {
    const shown = listed();
    const had = rows.contains(document.activeElement) && document.activeElement.getAttribute('href');
    fill(rows, byDay(shown), !shown.length && known.length > 0 && state('No session matches', 'Try another word, or load more sessions.'), !known.length && none());
    if (had) rows.querySelector(`a[href="${CSS.escape(had)}"]`)?.focus({ preventScroll: true });
  };
  const next = async () => {
    const before = known.length;
    const { items, hasMore } = await load(before, PAGE);
    known = [...known, ...items];
    const isPressed = document.activeElement === more;
    more.hidden = !hasMore;
    draw();
    // The button goes with the last page: the focus goes to the first session that came.
    if (!hasMore && isPressed) rows.querySelectorAll('a.row')[before]?.focus();
  };
  const press = async () => {
    if (isBusy) return;
    isBusy = true;
    await next().catch((error) => toast(trouble(error)));
    isBusy = false;
  };
  const none = () => (since || agent ? state('No session in this selection', 'Choose a longer period or another agent.') : state('No sessions yet', 'The next session that you start in a coding agent appears here.'));
  const more = h('button', { type: 'button', hidden: true, onclick: press }, 'More');
  // The sessions that are listed are loaded again, however many there are.
  const again = throttle(1_000, async () => {
    try {
      const pages = [];
      for (let offset = 0; offset === 0 || offset < known.length; offset += 200) pages.push(await load(offset, Math.min(200, Math.max(known.length - offset, PAGE))));
      const items = pages.flatMap((page) => page.items);
      // Rows that stay the same are not replaced under the mouse.
      if (JSON.stringify(items) === JSON.stringify(known)) return;
      known = items;
      draw();
    } catch { /* The stream says when the worker is gone. */ }
  });
  world.listen(({ name }) => (name === 'session' || name === 'account' || name === 'resumed') && again());
  await next();
  const filter = h('input', { type: 'search', placeholder: 'Filter sessions', 'aria-label': 'Filter sessions', oninput: (event) => { wanted = event.target.value.trim().toLowerCase(); draw(); } });
  const anew = () => {
    known = [];
    press();
  };
  const periods = PERIODS.some(([value]) => value === since) ? PERIODS : [...PERIODS, [since, until && until !== since ? `${date(since)} to ${date(until)}` : date(since)]];
  const period = h('select', { 'aria-label': 'Period', onchange: (event) => { since = event.target.value; until = ''; anew(); } }, periods.map(([value, name]) => h('option', { value, selected: value === since }, name)));
  const agents = agentFilter(() => agent, (event) => { agent = event.target.value; anew(); }, 'Any agent');
  return [h('div', { class: 'bar-top' }, h('h1', {}, 'Sessions'), h('div', { class: 'actions' }, filter, period, agents.select, exportButton(listed, 'sessions'))), rows, more];
}

/** A session without an event for so long is idle, whatever its client said. */
const QUIET_MS = 3_600_000;
const isActive = (session) => session.status === 'active' && Date.now() - session.lastActivityAt < QUIET_MS;
export const statusOf = (session) => (isActive(session) ? 'Active' : session.status === 'active' ? 'Idle' : 'Ended');
/** The purpose of a session: that of its account, else its first prompt. */
export const purposeOf = (session) => session.purpose ?? (session.title ? sessionName(session.title) : 'A session without a prompt');
/** A longer first line of a prompt is stored without its end. */
const NAME_CHARS = 200;
const sessionName = (title) => withoutHeadingMark(title) + ([...title].length >= NAME_CHARS ? '…' : '');
export const titleOfSession = (session) => marked(purposeOf(session));
const textOf = (session) => [session.purpose, session.title, session.outcome, session.branch, session.agent.title, session.project?.name, ...session.filesEdited].join(' ').toLowerCase();

function byDay(sessions) {
  const days = new Map();
  for (const one of sessions) days.set(day(one.createdAt), [...(days.get(day(one.createdAt)) ?? []), one]);
  return [...days].map(([name, list]) => [h('h2', { class: 'day' }, name), h('ol', { class: 'rows sheet' }, list.map(line))]);
}

function line(session) {
  const files = session.filesEdited.slice(0, 2).map(baseName).join(', ');
  const rest = session.files - Math.min(session.filesEdited.length, 2);
  const facts = [
    session.branch, duration(session.lastActivityAt - session.createdAt),
    plural(session.promptCounter, 'turn'), session.observations > 0 && plural(session.observations, 'memory', 'memories'), files && (rest > 0 ? `${files} +${rest}` : files),
  ];
  return h(
    'li',
    {},
    h(
      'a',
      { class: 'row', href: `#/sessions/${session.id}` },
      h('span', { class: 'row-title', dir: 'auto' }, titleOfSession(session)),
      session.outcome && !isAlike(session.outcome, purposeOf(session)) && h('span', { class: 'row-outcome', dir: 'auto' }, marked(session.outcome)),
      h('span', { class: 'meta' }, isActive(session) && h('span', { class: 'tag' }, 'Active'), session.project && h('bdi', { class: 'project-name' }, session.project.name), h('bdi', { class: 'agent' }, session.agent.title), facts.filter(Boolean).map((text) => h('bdi', {}, text))),
      h('time', { class: 'when', datetime: new Date(session.createdAt).toISOString() }, time(session.createdAt)),
    ),
  );
}
