// The frame: which view, which project, is the worker there.

import { entered, get, GONE, Refused, token } from './api.js';
import { coded, debounce, fill, h, loading, state } from './dom.js';
import { dashboard } from './dashboard.js';
import { add } from './edit.js';
import { feed } from './feed.js';
import { keys, help } from './keys.js';
import { next } from './next.js';
import { painted } from './paint.js';
import { search } from './search.js';
import { session, sessions } from './sessions.js';
import { settings } from './settings.js';
import { Stream } from './stream.js';
import { theme } from './theme.js';

const main = document.getElementById('main');
const find = document.getElementById('find');
const link = document.getElementById('link');
const chooser = document.getElementById('project');
const PROJECT = 'claude-mem-project';

const VIEWS = { feed, search, sessions, session, dashboard, next, settings };

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
  /** The view that asks for it anew, once nothing has happened for so long, unless another was gone
   *  to. One that is still on its way comes first: else a busy time would never let it. */
  again(wait, isFree = () => true) {
    const mine = turn;
    const later = debounce(wait, async () => {
      await drawing;
      if (mine !== turn || !isFree()) return;
      if (isWritten()) later();
      else this.refresh();
    });
    return later;
  },
  /** Another view, or the same with other parameters; only the former can be gone back to. */
  go(name, params = []) {
    const text = String(new URLSearchParams(params));
    const hash = `#/${name}${text ? `?${text}` : ''}`;
    if (hash === location.hash) return undefined;
    if (place().name === name) history.replaceState(null, '', hash);
    else history.pushState(null, '', hash);
    return show();
  },
};

/** `#/name/rest?params` */
function place() {
  const { hash } = location;
  const [path, text = ''] = hash.replace(/^#\/?/, '').split('?');
  const [name, rest] = path.split('/');
  const view = name === 'sessions' && rest ? 'session' : name in VIEWS ? name : 'feed';
  return { hash, name: view, rest: rest && decodeURIComponent(rest), params: new URLSearchParams(text) };
}

let turn = 0;
let current = null;
let drawing = null;

const show = (how) => (drawing = draw(how));

/** Whether somebody is writing: that stays, with the view around it. */
const isWritten = () => main.querySelector('.edit') !== null;

async function draw({ quiet = false } = {}) {
  if (quiet && isWritten()) return;
  const at = place();
  const mine = ++turn;
  if (current?.name === at.name && current.update && !quiet) {
    frame(at);
    current.update(at);
    main.dataset.place = at.hash;
    return;
  }
  const isNew = !quiet || current?.name !== at.name;
  const isFirst = mine === 1;
  const before = { current, heard: world.heard };
  world.heard = null;
  current = null;
  if (isNew) frame(at);
  let had = null;
  const put = (content) => {
    if (main.contains(document.activeElement)) had = sameAs(document.activeElement);
    const open = isNew ? [] : [...main.querySelectorAll('mem-card.open')].map((one) => one.dataset.handle);
    fill(main, content);
    open.forEach((handle) => main.querySelector(`mem-card[data-handle="${handle}"]`)?.reopen());
  };
  // A view that is quick never shows that it was waited for.
  const patience = setTimeout(() => mine === turn && isNew && put(loading()), 150);
  let content;
  try {
    const view = await VIEWS[at.name](world, at);
    if (mine !== turn) return;
    current = { name: at.name, update: view.update };
    content = view.content ?? view;
  } catch (error) {
    if (mine !== turn) return;
    content = trouble(error);
  } finally {
    clearTimeout(patience);
  }
  if (!isNew && isWritten()) {
    // Begun meanwhile: the view is the one that it was.
    turn -= 1;
    current = before.current;
    world.heard = before.heard;
    return;
  }
  put(content);
  main.dataset.view = at.name;
  main.dataset.place = at.hash;
  // At first it is there, and would be laid out only to find that out.
  if (isNew && !isFirst) scrollTo(0, 0);
  // Unless it has gone elsewhere meanwhile, the focus goes to the view, or stays on what was only
  // drawn anew.
  if (had && document.activeElement === document.body) ((!isNew && main.querySelector(had)) || main).focus({ preventScroll: true });
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

function trouble(error) {
  if (error instanceof Refused && error.status === 401) return locked();
  const again = h('button', { type: 'button', onclick: () => show() }, 'Try again');
  return state(error.message, error.hint || 'Run `claude-mem doctor`: it finds out what is wrong.', again);
}

function locked(used = false) {
  current = null;
  document.body.dataset.locked = '';
  const why = used ? 'This link was used before, or is too old. ' : 'Your memory is shown to nobody but you. ';
  return state('This page has no key', coded(`${why}Run \`claude-mem open\` in a terminal: it opens this page with a key that works once.`));
}

world.stream.addEventListener('event', ({ detail }) => {
  world.heard?.(detail);
  if (detail.name === 'session') later();
});
world.stream.addEventListener('link', ({ detail: { up } }) => {
  const was = link.dataset.up;
  link.dataset.up = String(up);
  fill(link, h('span', { class: 'dot' }), up ? 'Live' : 'Not connected');
  link.title = up ? 'New memories appear by themselves' : `${GONE.hint} Trying again…`;
  document.querySelector('.offline')?.remove();
  if (!up) document.querySelector('.top').after(h('p', { class: 'offline', role: 'alert' }, 'The worker does not answer. ', coded(GONE.hint)));
  // What a view could not load while nobody answered.
  else if (was === 'false' && main.querySelector('.state')) world.refresh();
});
world.stream.addEventListener('locked', () => fill(main, locked()));

async function projects() {
  const { items } = await get('/api/projects');
  const is = JSON.stringify(items.map((one) => [one.id, one.name]));
  world.projects = items;
  if (world.project && !items.some((one) => String(one.id) === world.project)) {
    // It is gone since the page was last open, and what is shown of it was an error.
    world.project = '';
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
  chooser.addEventListener('change', () => {
    world.project = chooser.value;
    sessionStorage.setItem(PROJECT, world.project);
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
  addEventListener('hashchange', () => (location.hash.startsWith('#k=') ? location.reload() : show()));
  addEventListener('keydown', (event) => keys(event, { find, add: () => add(world) }));
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
