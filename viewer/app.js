// The frame: search box, project, connection; the router draws the view.

import { entered, get, token } from './api.js';
import { coded, debounce, fill, h, throttle } from './dom.js';
import { contextPreview } from './contextPreview.js';
import { dashboard } from './dashboard.js';
import { add } from './edit.js';
import { feed } from './feed.js';
import { painted } from './firstPaint.js';
import { keys, help } from './keys.js';
import { memory } from './memory.js';
import { palette } from './palette.js';
import { project } from './project.js';
import { review } from './review.js';
import { locked, Router } from './router.js';
import { search } from './search.js';
import { session } from './session.js';
import { sessions } from './sessions.js';
import { settings } from './settings.js';
import { Stream } from './stream.js';
import { showTeamLink, team } from './team.js';
import { TEXTS } from './texts.js';
import { theme } from './theme.js';
import { trash } from './trash.js';
import { usage } from './usage.js';
import { isWriting, mayGo } from './unsavedText.js';

const main = document.getElementById('main');
const find = document.getElementById('find');
const link = document.getElementById('link');
const chooser = document.getElementById('project');

/** State and actions that the views share: the chosen project, live events, navigation. */
const world = {
  project: sessionStorage.getItem('claude-mem-project') ?? '',
  projects: [],
  /** Settled once `projects` are those that there are. */
  known: null,
  /** Called with the cursor `seen` when the first view is loaded: the rest of the page starts then. */
  begin: () => {},
  stream: new Stream(),
  heard: null,
  listen(run) {
    this.heard = run;
  },
  /** The same view anew, in place. */
  refresh: () => router.show({ quiet: true }),
  /** The view that asks for it anew, now and then at most once in so long, unless another was gone
   *  to. One that is still on its way comes first: else a busy time would never let it. */
  again(wait, isFree = () => true) {
    const mine = router.live;
    const soon = throttle(wait, async () => {
      await router.drawing;
      if (mine !== router.live || !isFree()) return;
      if (router.isWritten()) soon();
      else this.refresh();
    });
    return soon;
  },
  go: (name, params) => router.go(name, params),
};

const router = new Router({ feed, search, sessions, session, memory, dashboard, context: contextPreview, settings, review, trash, usage, project, team }, world);

router.framed = ({ name, params }, title) => {
  const tab = { session: 'sessions', trash: 'review' }[name] ?? name;
  for (const one of document.querySelectorAll('.side a')) {
    if (one.getAttribute('href') === `#/${tab}`) one.setAttribute('aria-current', 'page');
    else one.removeAttribute('aria-current');
  }
  const project = world.projects.find((one) => String(one.id) === world.project);
  document.documentElement.toggleAttribute('data-chosen-project', Boolean(world.project));
  document.title = [title, project?.name, 'claude-mem'].filter(Boolean).join(' · ');
  // Before the projects are known there is no option to choose.
  if ([...chooser.options].some((one) => one.value === world.project)) chooser.value = world.project;
  // Text that is being typed is not replaced.
  const wanted = name === 'search' ? (params.get('q') ?? '') : '';
  if (find.value.trim() !== wanted.trim()) find.value = wanted;
};

world.stream.addEventListener('event', ({ detail }) => {
  router.tell(detail);
  if (detail.name === 'session') later();
});

/** `up`: whether the event stream is connected; null while the tab is hidden. */
world.stream.addEventListener('link', ({ detail: { up, why } }) => {
  const was = link.dataset.up;
  link.dataset.up = up ?? 'asleep';
  if (up === null) return;
  fill(link, h('span', { class: 'dot' }), up ? 'Live' : 'Not connected');
  link.title = up ? 'New memories appear by themselves' : `${why.hint} Trying again…`;
  offline(up ? null : why);
  if (up && was && was !== 'true') comeBackUp();
});

// A tab that was opened from this one has no key yet.
const tabs = new BroadcastChannel('claude-mem');
tabs.addEventListener('message', ({ data }) => {
  if (data.isAsking && token() && link.dataset.up === 'true') tabs.postMessage({ token: token() });
});

/** Said once, until it is another reason: a message that is put in again is read out again. */
function offline(why) {
  const shown = document.querySelector('.offline');
  const text = why && `${why.error}. ${why.hint}`;
  if (shown?.dataset.said === text) return;
  shown?.remove();
  if (text) document.querySelector('.top').after(h('p', { class: 'offline', role: 'alert', 'data-said': text }, coded(text)));
}

/** The worker is back: failed requests are repeated. */
function comeBackUp() {
  if (main.querySelector(':scope > .failed')) world.refresh();
  main.querySelectorAll('mem-list').forEach((list) => list.retry());
  later();
  router.tell({ name: 'resumed' });
}

world.stream.addEventListener('locked', () => {
  if (!isWriting()) {
    lock();
    return;
  }
  // Unsaved text can still be copied.
  offline({ error: TEXTS.expired, hint: 'Copy what you wrote, then run `claude-mem open`.' });
  document.addEventListener('free', lock, { once: true });
});

function lock() {
  document.querySelector('dialog')?.close();
  offline(null);
  router.lock(locked());
}

/** The only project and the only agent are not named on every row, from the first paint on. */
function setOnly(what, is) {
  document.documentElement.toggleAttribute(`data-one-${what}`, is);
  localStorage.setItem(`claude-mem-one-${what}`, is ? 'yes' : '');
}
for (const what of ['project', 'agent']) setOnly(what, localStorage.getItem(`claude-mem-one-${what}`) === 'yes');

async function projects() {
  const { items } = await get('/api/projects');
  const is = JSON.stringify(items.map((one) => [one.id, one.name]));
  world.projects = items;
  setOnly('project', items.length === 1);
  // The chosen project no longer exists, and its view showed an error.
  if (world.project && !items.some((one) => String(one.id) === world.project)) router.chooseProject('');
  if (chooser.dataset.is === is) return;
  chooser.dataset.is = is;
  fill(chooser, h('option', { value: '' }, 'All projects'), items.map((one) => h('option', { value: String(one.id), selected: String(one.id) === world.project }, one.name)));
}
const later = debounce(400, () => projects().catch(() => { /* The stream says when the worker is gone. */ }));
const agents = async () => setOnly('agent', (await get('/api/agents')).items.length < 2);
/** Not needed to see the first memories. */
const afterwards = () => Promise.all([showTeamLink(), agents()]).catch(() => { /* As they were until the page is loaded again. */ });

function listen() {
  const typed = debounce(120, () => {
    const text = find.value.trim();
    const { name, params } = router.place();
    if (!text && name !== 'search') return undefined;
    const kept = name === 'search' ? [...params].filter(([key]) => key !== 'q') : [];
    const isFiltered = kept.some(([key]) => key !== 'project');
    return text || isFiltered ? router.go('search', text ? [['q', text], ...kept] : kept) : router.go('feed');
  });
  find.addEventListener('input', typed);
  find.form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const asked = find.value;
    await typed.now();
    await main.querySelector('mem-list')?.ready;
    // Typing on meanwhile is not disturbed.
    if (document.activeElement === find && find.value === asked) main.querySelector('.card-toggle')?.focus();
  });
  chooser.addEventListener('change', async () => {
    const chosen = chooser.value;
    chooser.value = world.project;
    if (!(await mayGo(main))) return;
    chooser.value = chosen;
    router.chooseProject(chosen);
  });
  // Filters keep the query.
  document.querySelector('.with-filters').addEventListener('click', (event) => {
    const text = find.value.trim();
    if (!text || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    router.go('search', [['q', text]]);
  });
  // Not by its address: the view is named there.
  document.querySelector('.skip').addEventListener('click', (event) => {
    event.preventDefault();
    main.focus();
  });
  document.getElementById('add').addEventListener('click', () => add(world));
  document.getElementById('help').addEventListener('click', help);
  document.getElementById('palette').addEventListener('click', commands);
  router.listen();
  addEventListener('keydown', (event) => keys(event, { find, add: () => add(world), commands }));
}

const press = (id) => () => document.getElementById(id)?.click();
const commands = () => palette(world, [
  ['Add a memory', () => add(world)],
  ['Change the theme', press('theme')],
  ['Compact or comfortable rows', press('density')],
  ['Keyboard shortcuts', help],
]);

async function start() {
  theme(document.getElementById('theme'));
  const isGood = await entered;
  if (!isGood || !token()) {
    router.lock(locked(!isGood));
    window.first.show();
    return;
  }
  listen();
  const there = new Promise((done) => (world.begin = done));
  there.then(window.first.show);
  const begun = there.then(painted);
  begun.then(async () => world.stream.run(await there));
  world.known = begun.then(projects).catch(() => { /* The view says what is wrong. */ });
  world.known.then(afterwards);
  // The feed says itself when it is there.
  if (router.place().name !== 'feed') world.begin();
  await router.show();
}

start();
