// The frame: which view, which project, is the worker there.

import { entered, get, Refused, token } from './api.js';
import { coded, debounce, failure, fill, h, loading, state, throttle } from './dom.js';
import { dashboard } from './dashboard.js';
import { add } from './edit.js';
import { feed } from './feed.js';
import { Kept } from './kept.js';
import { keys, help } from './keys.js';
import { memory } from './memory.js';
import { next } from './next.js';
import { painted } from './paint.js';
import { search } from './search.js';
import { session, sessions } from './sessions.js';
import { settings } from './settings.js';
import { Stream } from './stream.js';
import { theme } from './theme.js';
import { isWriting, mayGo } from './writing.js';

const main = document.getElementById('main');
const find = document.getElementById('find');
const link = document.getElementById('link');
const chooser = document.getElementById('project');
const PROJECT = 'claude-mem-project';

const VIEWS = { feed, search, sessions, session, memory, dashboard, next, settings };

/** What the views share: the chosen project, the live events, and ways to go on. */
const world = {
  project: sessionStorage.getItem(PROJECT) ?? '',
  projects: [],
  /** Settled once `projects` are those that there are. */
  known: null,
  /** What is looked at first is there: now all that it did not need, after `seen`. */
  begin: () => {},
  stream: new Stream(),
  heard: null,
  listen(run) {
    this.heard = run;
  },
  /** The same view anew, in place. */
  refresh: () => show({ quiet: true }),
  /** The view that asks for it anew, now and then at most once in so long, unless another was gone
   *  to. One that is still on its way comes first: else a busy time would never let it. */
  again(wait, isFree = () => true) {
    const mine = live;
    const soon = throttle(wait, async () => {
      await drawing;
      if (mine !== live || !isFree()) return;
      if (isWritten()) soon();
      else this.refresh();
    });
    return soon;
  },
  /** Another view, or the same with other parameters; only the former can be gone back to. */
  async go(name, params = []) {
    const text = String(new URLSearchParams(params));
    const hash = `#/${name}${text ? `?${text}` : ''}`;
    if (hash === location.hash || !(await mayGo(main))) return;
    if (place().name === name) history.replaceState(history.state, '', hash);
    else history.pushState(null, '', hash);
    await show();
  },
};

/** `#/name/rest?params`, and which entry of the history it is, if it was there before. */
function place() {
  const { hash } = location;
  const [path, text = ''] = hash.replace(/^#\/?/, '').split('?');
  const [name, rest] = path.split('/');
  const view = name === 'sessions' && rest ? 'session' : Object.hasOwn(VIEWS, name) ? name : 'feed';
  return { hash, name: view, rest: rest && plain(rest), params: new URLSearchParams(text), entry: history.state?.entry };
}

/** What was typed into the address by hand need not be well-formed. */
function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

let turn = 0;
/** The view that is in the page, whole. */
let current = null;
/** Of which view events are heard: the one that is being made, or was made last. */
let live = null;
let drawing = null;
const kept = new Kept();
/** Entries of the history are told apart by numbers, also from those before a reload. */
let entries = Date.now();

const show = (how) => (drawing = draw(how));

/** Whether somebody is writing: that stays, with the view around it. */
const isWritten = () => main.querySelector('.edit') !== null;

async function draw({ quiet = false } = {}) {
  if (quiet && isWritten()) return;
  const at = place();
  const mine = ++turn;
  if (!quiet && (update(at) || comeBack(at))) return;
  const isNew = !quiet || current?.name !== at.name;
  const before = { current, heard: world.heard, live };
  if (isNew) {
    frame(at);
    leave();
  }
  world.heard = null;
  current = null;
  live = {};
  let had = null;
  const put = (content) => {
    if (main.contains(document.activeElement)) had = sameAs(document.activeElement);
    if (isNew && before.current && !before.current.nodes) before.current.nodes = [...main.childNodes];
    fill(main, content);
  };
  // A view that is quick never shows that it was waited for.
  const patience = setTimeout(() => mine === turn && isNew && put(loading()), 150);
  const made = await make(at).finally(() => clearTimeout(patience));
  if (mine !== turn) return;
  if (!isNew && isWritten()) {
    // Begun meanwhile: the view is the one that it was.
    ({ current, live } = before);
    world.heard = before.heard;
    return;
  }
  put(made.content);
  arrive(at, made, mine > 1 && isNew);
  // Unless it has gone elsewhere meanwhile, the focus goes to the view, or stays on what was only
  // drawn anew.
  if (had && document.activeElement === document.body) (main.querySelector(had) ?? main).focus({ preventScroll: true });
}

/** The content of a view, or why there is none. */
async function make(at) {
  try {
    const view = await VIEWS[at.name](world, at);
    return { content: view.content ?? view, update: view.update, isWhole: true };
  } catch (error) {
    const isLocked = error instanceof Refused && error.status === 401;
    return { content: isLocked ? locked() : failure(error, () => show()) };
  }
}

/** What was made is in the page. At first it stands at its top, and would be laid out only to find
 *  that out. */
function arrive(at, made, isScrolled) {
  main.dataset.view = at.name;
  main.dataset.place = at.hash;
  if (isScrolled) scrollTo(0, 0);
  if (!made.isWhole) return;
  if (at.entry == null) history.replaceState({ entry: (at.entry = ++entries) }, '');
  current = { ...at, update: made.update, heard: world.heard, live };
}

/** The same entry of the history with other parameters: its view knows what to do. */
function update(at) {
  if (!current?.update || current.name !== at.name || current.entry !== at.entry) return false;
  frame(at);
  current.hash = at.hash;
  current.update(at);
  main.dataset.place = at.hash;
  return true;
}

/** What is shown may be gone back to. */
function leave() {
  if (current) kept.leave(current);
}

/** A view that was left, as it was; then what happened meanwhile. */
function comeBack(at) {
  const view = kept.take(at.entry, at.hash);
  if (!view) return false;
  frame(at);
  if (current) {
    leave();
    current.nodes = [...main.childNodes];
  }
  if (view.nodes) fill(main, view.nodes);
  view.nodes = null;
  ({ live } = view);
  current = view;
  world.heard = view.heard;
  main.dataset.view = at.name;
  main.dataset.place = at.hash;
  scrollTo(0, view.y);
  view.late.forEach((event) => view.heard?.(event));
  const isFree = document.activeElement === document.body || main.contains(document.activeElement);
  if (isFree) (main.contains(view.had) ? view.had : main).focus({ preventScroll: true });
  return true;
}

/** What this is found by when it is drawn anew. */
function sameAs(one) {
  if (one.id) return `#${CSS.escape(one.id)}`;
  const href = one.getAttribute('href');
  return href ? `a[href="${CSS.escape(href)}"]` : '#main';
}

function frame({ name, params }) {
  for (const one of document.querySelectorAll('.side a')) {
    const here = one.getAttribute('href') === `#/${name === 'session' ? 'sessions' : name}`;
    if (here) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
  document.title = `${name === 'next' ? 'next session' : name} · claude-mem`;
  // What is being typed stays as it is typed.
  const wanted = name === 'search' ? (params.get('q') ?? '') : '';
  if (find.value.trim() !== wanted.trim()) find.value = wanted;
}

function locked(used = false) {
  current = null;
  document.body.dataset.locked = '';
  const why = used ? 'This link was used before, or is too old. ' : 'Your memory is shown to nobody but you. ';
  return state('This page has no key', coded(`${why}Run \`claude-mem open\` in a terminal: it opens this page with a key that works once.`));
}

world.stream.addEventListener('event', ({ detail }) => {
  tell(detail);
  if (detail.name === 'session') later();
});

function tell(event) {
  world.heard?.(event);
  kept.tell(event);
}

/** `up`: whether the worker tells what happens; null while nobody looks. */
world.stream.addEventListener('link', ({ detail: { up, why } }) => {
  const was = link.dataset.up;
  link.dataset.up = up ?? 'asleep';
  if (up === null) return;
  fill(link, h('span', { class: 'dot' }), up ? 'Live' : 'Not connected');
  link.title = up ? 'New memories appear by themselves' : `${why.hint} Trying again…`;
  offline(up ? null : why);
  if (up && was && was !== 'true') comeBackUp();
});

/** Said once, until it is another reason: a message that is put in again is read out again. */
function offline(why) {
  const shown = document.querySelector('.offline');
  const text = why && `${why.error}. ${why.hint}`;
  if (shown?.dataset.said === text) return;
  shown?.remove();
  if (text) document.querySelector('.top').after(h('p', { class: 'offline', role: 'alert', 'data-said': text }, coded(text)));
}

/** The worker is there again: what could not be had is asked for, what was not told is looked up. */
function comeBackUp() {
  if (main.querySelector(':scope > .failed')) world.refresh();
  main.querySelectorAll('mem-list').forEach((list) => list.retry());
  later();
  tell({ name: 'resumed' });
}

world.stream.addEventListener('locked', () => {
  if (!isWriting()) {
    lock();
    return;
  }
  // What was written can still be copied.
  offline({ error: 'This page has no key any more', hint: 'Copy what you wrote, then run `claude-mem open`.' });
  document.addEventListener('free', lock, { once: true });
});

function lock() {
  document.querySelector('dialog')?.close();
  offline(null);
  world.heard = null;
  fill(main, locked());
}

async function projects() {
  const { items } = await get('/api/projects');
  const is = JSON.stringify(items.map((one) => [one.id, one.name]));
  world.projects = items;
  if (world.project && !items.some((one) => String(one.id) === world.project)) {
    // It is gone since the page was last open, and what is shown of it was an error.
    world.project = '';
    sessionStorage.removeItem(PROJECT);
    world.refresh();
  }
  if (chooser.dataset.is === is) return;
  chooser.dataset.is = is;
  fill(chooser, h('option', { value: '' }, 'All projects'), items.map((one) => h('option', { value: String(one.id), selected: String(one.id) === world.project }, one.name)));
}
const later = debounce(400, () => projects().catch(() => { /* The stream says when the worker is gone. */ }));

function listen() {
  const typed = debounce(120, () => {
    const text = find.value.trim();
    const { name, params } = place();
    if (!text && name !== 'search') return undefined;
    const kept = name === 'search' ? [...params].filter(([key]) => key !== 'q') : [];
    return text || kept.length ? world.go('search', text ? [['q', text], ...kept] : kept) : world.go('feed');
  });
  find.addEventListener('input', typed);
  find.form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const asked = find.value;
    await typed.now();
    await main.querySelector('mem-list')?.ready;
    // Whoever typed on meanwhile is not disturbed.
    if (document.activeElement === find && find.value === asked) main.querySelector('.card-toggle')?.focus();
  });
  chooser.addEventListener('change', async () => {
    const chosen = chooser.value;
    chooser.value = world.project;
    if (!(await mayGo(main))) return;
    chooser.value = chosen;
    world.project = chosen;
    sessionStorage.setItem(PROJECT, chosen);
    // Nothing that is kept is of this project.
    kept.clear();
    current = null;
    show();
  });
  // Not by its address: the view is named there.
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  document.getElementById('add').addEventListener('click', () => add(world));
  document.getElementById('help').addEventListener('click', help);
  // We know better than the browser where one was in a list that comes page by page.
  history.scrollRestoration = 'manual';
  addEventListener('hashchange', moved);
  // Asked before it is left, a link is simply not followed.
  addEventListener('click', async (event) => {
    const to = event.target.closest('a[href^="#/"]');
    const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
    if (!to || isElsewhere || !isWriting(main)) return;
    event.preventDefault();
    if (await mayGo(main)) location.hash = to.hash;
  });
  addEventListener('keydown', (event) => keys(event, { find, add: () => add(world) }));
}

/** The address has changed, by a link, by Back or by hand. */
async function moved() {
  if (location.hash.startsWith('#k=')) location.reload();
  else if ('locked' in document.body.dataset) return;
  else if (await mayGo(main)) show();
  else history.pushState({ entry: current?.entry }, '', main.dataset.place);
}

async function start() {
  theme(document.getElementById('theme'));
  const isGood = await entered;
  if (!isGood || !token()) {
    fill(main, locked(!isGood));
    window.first.show();
    return;
  }
  listen();
  const there = new Promise((done) => (world.begin = done));
  there.then(window.first.show);
  const begun = there.then(painted);
  begun.then(async () => world.stream.run(await there));
  world.known = begun.then(projects).catch(() => { /* What is looked at says what is wrong. */ });
  // The feed says itself when it is there.
  if (place().name !== 'feed') world.begin();
  await show();
}

start();
