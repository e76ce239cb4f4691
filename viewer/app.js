// The frame: which view, which project, is the worker there.

import { enter, get, post, Refused, token } from './api.js';
import { debounce, fill, h, loading, state, toast } from './dom.js';
import { dashboard } from './dashboard.js';
import { feed } from './feed.js';
import { next } from './next.js';
import { search } from './search.js';
import { session, sessions } from './sessions.js';
import { settings } from './settings.js';
import { Stream } from './stream.js';
import { theme } from './theme.js';

const main = document.getElementById('main');
const find = document.getElementById('find');
const projectSelect = document.getElementById('project');

const VIEWS = { feed, search, sessions, session, dashboard, next, settings };

/** What the views share: the chosen project, the live events, and a way to draw again. */
const world = {
  project: '',
  projects: [],
  stream: new Stream(),
  heard: null,
  listen(run) {
    this.heard = run;
  },
  refresh: () => show(),
};

world.stream.addEventListener('event', ({ detail }) => {
  world.heard?.(detail);
  if (detail.name === 'session') projects();
});
world.stream.addEventListener('link', ({ detail: { up } }) => {
  const link = document.getElementById('link');
  link.dataset.up = String(up);
  fill(link, h('span', { class: 'dot' }), up ? 'live' : 'not connected');
  link.title = up ? 'New memories appear by themselves' : 'The worker is gone; `claude-mem open` starts it again. Trying…';
});

/** `#/name/rest?params` */
function place() {
  const [path, params = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [name = 'feed', rest] = path.split('/');
  return { name: rest && name === 'sessions' ? 'session' : name || 'feed', rest, params: new URLSearchParams(params) };
}

let shown = 0;

async function show() {
  const { name, rest, params } = place();
  const turn = ++shown;
  world.heard = null;
  for (const link of document.querySelectorAll('.side a')) {
    const here = link.getAttribute('href') === `#/${name === 'session' ? 'sessions' : name}`;
    if (here) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (name !== 'search') find.value = '';
  else if (document.activeElement !== find) find.value = params.get('q') ?? '';
  const view = VIEWS[name] ?? feed;
  if (name !== 'search' && name !== 'feed') fill(main, loading());
  try {
    const content = await view(world, name === 'session' ? rest : params);
    if (turn === shown) fill(main, content);
  } catch (error) {
    if (turn === shown) fill(main, trouble(error));
  }
}

function trouble(error) {
  if (error instanceof Refused && error.status === 401) return locked();
  const again = h('button', { type: 'button', onclick: show }, 'Try again');
  return state(error.message, error.hint || 'claude-mem doctor finds out what is wrong.', again);
}

function locked() {
  return state('This page has no key', [
    'Your memory is shown to nobody but you. Run ',
    h('code', {}, 'claude-mem open'),
    ' in a terminal: it opens this page with a key that works once.',
  ]);
}

async function projects() {
  const { items } = await get('/api/projects');
  world.projects = items;
  fill(projectSelect, h('option', { value: '' }, 'All projects'), items.map((project) => h('option', { value: String(project.id), selected: String(project.id) === world.project }, project.name)));
}

function addMemory() {
  const dialog = h('dialog', { 'aria-labelledby': 'add-title', onclose: () => dialog.remove() });
  const save = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.target));
    try {
      const row = await post('/api/memory/save', { text: values.text, title: values.title || undefined, project: values.project || undefined, global: values.global === 'on' });
      dialog.close();
      toast(`Saved as ${row.handle}`);
      if (place().name === 'feed' && !world.heard) show();
    } catch (error) {
      toast(`${error.message}. ${error.hint ?? ''}`);
    }
  };
  dialog.append(
    h(
      'form',
      { onsubmit: save },
      h('h2', { id: 'add-title' }, 'Add a memory'),
      h('label', { class: 'field' }, h('span', {}, 'What should be remembered'), h('textarea', { name: 'text', rows: '4', required: true })),
      h('label', { class: 'field' }, h('span', {}, 'Title (the first sentence, if empty)'), h('input', { name: 'title' })),
      h('label', { class: 'field' }, h('span', {}, 'Project'), h('select', { name: 'project' }, world.projects.map((project) => h('option', { value: String(project.id), selected: String(project.id) === world.project }, project.name)))),
      h('label', { class: 'check' }, h('input', { type: 'checkbox', name: 'global' }), 'Holds in every project'),
      h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Save'), h('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Cancel')),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

/** `/` finds, a letter after `g` goes somewhere, j and k walk the cards. */
function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select, dialog')) return;
  if (event.key === '/') {
    event.preventDefault();
    find.focus();
  } else if (keys.go) {
    keys.go = false;
    document.querySelector(`.side a[data-key="${CSS.escape(event.key)}"]`)?.click();
  } else if (event.key === 'g') keys.go = true;
  else if (event.key === 'j' || event.key === 'k') walk(event.key === 'j' ? 1 : -1);
}

function walk(step) {
  const heads = [...document.querySelectorAll('.card:not([hidden]) .card-head')];
  const at = heads.indexOf(document.activeElement);
  heads[Math.max(0, Math.min(heads.length - 1, at + step))]?.focus();
}

async function start() {
  theme(document.getElementById('theme'));
  await enter();
  if (!token()) {
    fill(main, locked());
    return;
  }
  const typed = debounce(140, () => {
    const text = find.value.trim();
    location.hash = text ? `#/search?${new URLSearchParams({ q: text })}` : '#/feed';
  });
  find.addEventListener('input', typed);
  document.querySelector('.find').addEventListener('submit', (event) => {
    event.preventDefault();
    main.querySelector('.card-head')?.focus();
  });
  projectSelect.addEventListener('change', () => {
    world.project = projectSelect.value;
    show();
  });
  document.getElementById('add').addEventListener('click', addMemory);
  addEventListener('hashchange', show);
  addEventListener('keydown', keys);
  try {
    await projects();
  } catch (error) {
    fill(main, trouble(error));
    return;
  }
  world.stream.run();
  await show();
}

start();
