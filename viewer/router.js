// Which view the address names, and drawing it: views that were left come back as they were.

import { Refused } from './api.js';
import { coded, failure, fill, h, loading, state } from './dom.js';
import { TEXTS } from './texts.js';
import { isWriting, mayGo } from './unsavedText.js';
import { ViewCache } from './viewCache.js';

const main = document.getElementById('main');
const PROJECT = 'claude-mem-project';
/** Views that show one project or all of them: their address names the project. */
const SCOPED = new Set(['feed', 'search', 'sessions', 'context', 'review', 'usage', 'project']);
/** Names that views had in earlier addresses. */
const RENAMED = { next: 'context' };

export class Router {
  #views;
  #world;
  #turn = 0;
  /** The view that is in the page, whole. */
  #current = null;
  /** The view whose events are handled: the one that is being made, or was made last. */
  #live = null;
  #drawing = null;
  #cache = new ViewCache();
  /** Entries of the history are told apart by numbers, also from those before a reload. */
  #entries = Date.now();
  /** Called with the address whenever another view or other parameters are shown. */
  framed = () => {};

  constructor(views, world) {
    this.#views = views;
    this.#world = world;
  }

  get live() {
    return this.#live;
  }

  get drawing() {
    return this.#drawing;
  }

  /** `#/name/rest?params`, and the entry of the history that it is. */
  place() {
    const { hash } = location;
    const [path, text = ''] = hash.replace(/^#\/?/, '').split('?');
    const [typed, rest] = path.split('/');
    const name = RENAMED[typed] ?? (typed || 'feed');
    const view = name === 'sessions' && rest ? 'session' : Object.hasOwn(this.#views, name) ? name : 'missing';
    return { hash, name: view, rest: rest && plain(rest), params: new URLSearchParams(text), entry: history.state?.entry };
  }

  show(how) {
    this.#drawing = this.#draw(how);
    return this.#drawing;
  }

  /** Another view, or the same with other parameters; only the former can be gone back to. */
  async go(name, params = []) {
    const text = String(new URLSearchParams(params));
    const hash = `#/${name}${text ? `?${text}` : ''}`;
    if (hash === location.hash || !(await mayGo(main))) return;
    if (this.place().name === name) history.replaceState(history.state, '', hash);
    else history.pushState(null, '', hash);
    await this.show();
  }

  /** The address has changed, by a link, by Back or by hand. */
  async moved() {
    const target = !location.hash.startsWith('#/') && document.getElementById(location.hash.slice(1));
    if (location.hash.startsWith('#k=')) location.reload();
    else if (target) {
      // A place within the view.
      history.replaceState(history.state, '', main.dataset.place);
      target.scrollIntoView();
    }
    else if ('locked' in document.body.dataset) return;
    else if (await mayGo(main)) this.show();
    else history.pushState({ entry: this.#current?.entry }, '', main.dataset.place);
  }

  /** Another project was chosen: nothing that is kept is of it. */
  async chooseProject(id) {
    this.#world.project = id;
    sessionStorage.setItem(PROJECT, id);
    this.#cache.clear();
    this.#current = null;
    const { hash, name, params } = this.place();
    params.delete('project');
    if (SCOPED.has(name)) history.replaceState(history.state, '', `${hash.split('?')[0]}${params.size ? `?${params}` : ''}`);
    await this.show();
  }

  /** Tells the view in the page, and those that may be gone back to. */
  tell(event) {
    this.#world.heard?.(event);
    this.#cache.tell(event);
  }

  lock(content) {
    this.#current = null;
    this.#world.heard = null;
    document.body.dataset.locked = '';
    fill(main, content);
  }

  /** Whether a memory is being edited: it stays, with the view around it. */
  isWritten() {
    return main.querySelector('.edit') !== null;
  }

  /** The project of the address is the chosen one; without one the chosen one is put into the address. */
  #syncProject() {
    const { hash, name, params } = this.place();
    if (!SCOPED.has(name)) return;
    const named = params.get('project');
    if (named !== null && named !== this.#world.project) {
      this.#world.project = named;
      sessionStorage.setItem(PROJECT, named);
      this.#cache.clear();
    } else if (named === null && this.#world.project) {
      params.set('project', this.#world.project);
      history.replaceState(history.state, '', `${hash.split('?')[0] || '#/feed'}?${params}`);
    }
  }

  async #draw({ quiet = false } = {}) {
    if (quiet && this.isWritten()) return;
    this.#syncProject();
    const at = this.place();
    const mine = ++this.#turn;
    if (!quiet && (this.#update(at) || this.#comeBack(at))) return;
    const isNew = !quiet || this.#current?.name !== at.name;
    const before = { current: this.#current, heard: this.#world.heard, live: this.#live };
    if (isNew) {
      this.framed(at, nameOfView(at));
      this.#leave();
    }
    this.#world.heard = null;
    this.#current = null;
    this.#live = {};
    let had = null;
    const put = (content) => {
      if (main.contains(document.activeElement)) had = selectorOf(document.activeElement);
      if (isNew && before.current && !before.current.nodes) before.current.nodes = [...main.childNodes];
      fill(main, content);
    };
    // A view that is quick never shows that it was waited for.
    const patience = setTimeout(() => mine === this.#turn && isNew && put(loading()), 150);
    const made = await this.#make(at).finally(() => clearTimeout(patience));
    if (mine !== this.#turn) return;
    if (!isNew && this.isWritten()) {
      // Begun meanwhile: the view is the one that it was.
      this.#current = before.current;
      this.#live = before.live;
      this.#world.heard = before.heard;
      return;
    }
    put(made.content);
    this.#arrive(at, made, mine > 1 && isNew, before.current?.name);
    // Unless it has moved elsewhere meanwhile, the focus goes to the view, or stays on an element that was
    // drawn again.
    if (had && document.activeElement === document.body) (main.querySelector(had) ?? main).focus({ preventScroll: true });
  }

  /** The content of a view, or why there is none. */
  async #make(at) {
    if (at.name === 'missing') return { content: notFound(at) };
    try {
      const view = await this.#views[at.name](this.#world, at);
      return { content: view.content ?? view, update: view.update, title: view.title, isWhole: true };
    } catch (error) {
      if (error instanceof Refused && error.status === 401) {
        document.body.dataset.locked = '';
        return { content: locked() };
      }
      if (error instanceof Refused && error.status === 404) return { content: [h('h1', {}, 'Not found'), state(error.message, error.hint, feedLink())] };
      return { content: failure(error, () => this.show()) };
    }
  }

  /** The view is in the page. The first view is at its top already; scrolling would only force a
   *  layout. */
  #arrive(at, made, isScrolled, from) {
    main.dataset.view = at.name;
    main.dataset.place = at.hash;
    if (made.title) this.framed(at, made.title);
    if (isScrolled && !at.params.has('turn')) scrollTo(0, 0);
    if (!made.isWhole) return;
    if (at.entry == null) history.replaceState({ entry: (at.entry = ++this.#entries), from }, '');
    this.#current = { ...at, update: made.update, title: made.title, heard: this.#world.heard, live: this.#live };
  }

  /** The same entry of the history with other parameters: its view handles them. */
  #update(at) {
    const current = this.#current;
    if (!current?.update || current.name !== at.name || current.rest !== at.rest || current.entry !== at.entry) return false;
    this.framed(at, current.title ?? nameOfView(at));
    current.hash = at.hash;
    current.update(at);
    main.dataset.place = at.hash;
    return true;
  }

  /** Keeps the current view for Back. */
  #leave() {
    if (this.#current) this.#cache.leave(this.#current);
  }

  /** Restores a view that was left, then replays the events since. */
  #comeBack(at) {
    const view = this.#cache.take(at.entry, at.hash);
    if (!view) return false;
    this.framed(at, view.title ?? nameOfView(at));
    if (this.#current) {
      this.#leave();
      this.#current.nodes = [...main.childNodes];
    }
    if (view.nodes) fill(main, view.nodes);
    view.nodes = null;
    this.#live = view.live;
    this.#current = view;
    this.#world.heard = view.heard;
    main.dataset.view = at.name;
    main.dataset.place = at.hash;
    scrollTo(0, view.y);
    view.late.forEach((event) => view.heard?.(event));
    const isFree = document.activeElement === document.body || main.contains(document.activeElement);
    if (isFree) (main.contains(view.had) ? view.had : main).focus({ preventScroll: true });
    return true;
  }

  listen() {
    // We know better than the browser where one was in a list that comes page by page.
    history.scrollRestoration = 'manual';
    addEventListener('hashchange', () => this.moved());
    addEventListener('click', async (event) => {
      const to = event.target.closest('a[href^="#/"]');
      const isElsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
      if (!to || isElsewhere) return;
      // A link back to where one came from is the same as Back: the list is where it was.
      const isBack = to.dataset.back !== undefined && history.state?.from === 'sessions';
      if (!isBack && !isWriting(main)) return;
      event.preventDefault();
      if (!(await mayGo(main))) return;
      if (isBack) history.back();
      else location.hash = to.hash;
    });
  }
}

const NAMES = { context: 'Context preview', session: 'Session', missing: 'Not found', usage: 'Usage' };
const nameOfView = ({ name, rest, params }) => {
  if (name === 'search' && params.get('q')) return `“${params.get('q')}”`;
  if (name === 'memory') return `Memory ${rest}`;
  if (name === 'feed' && (params.get('type') ?? params.get('kind') ?? params.get('marked'))) return `Feed: ${params.get('type') ?? params.get('kind') ?? params.get('marked')}`;
  return NAMES[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
};

const feedLink = () => h('a', { href: '#/feed' }, 'Go to the feed');
const notFound = ({ hash }) => [h('h1', {}, 'There is no such page'), h('p', { class: 'note' }, h('code', {}, hash), ' is not an address of this viewer.'), h('p', {}, feedLink())];

export function locked(used = false) {
  const why = used ? 'This link was already used, or has expired. ' : 'Your memory is shown to nobody but you. ';
  return state(TEXTS.expired, coded(`${why}Run \`claude-mem open\` in a terminal: it opens this page with a key that works once.`));
}

/** An address that was typed by hand need not be well-formed. */
function plain(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A selector that finds this element after it is drawn again. */
function selectorOf(one) {
  if (one.id) return `#${CSS.escape(one.id)}`;
  const href = one.getAttribute('href');
  return href ? `a[href="${CSS.escape(href)}"]` : '#main';
}
