// Builds the page. Text goes in as text: there is no way here to turn a string into markup.

/** An element. `props`: `class`, `data-*`, `aria-*` and other attributes; `on*` listeners;
 *  `style` as an object of properties. Children: nodes, strings, numbers, or nothing. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) set(element, name, value);
  element.append(...nodes(children));
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

/** The same for drawings. */
export function s(tag, props = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) if (value != null) element.setAttribute(name, value);
  element.append(...nodes(children));
  return element;
}

function set(element, name, value) {
  if (value == null || value === false) return;
  if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
  else if (name === 'style') Object.assign(element.style, value);
  else if (name === 'class') element.className = value;
  else if (name in element && typeof value !== 'string') element[name] = value;
  else element.setAttribute(name, value === true ? '' : value);
}

const nodes = (children) => children.flat(Infinity).filter((child) => child != null && child !== false && child !== '');

/** Replaces the children of `parent`. */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
  return parent;
}

/** Replaces the children of a part of the view. The page does not move, and the focus stays on its control: in the
 *  same row, or in the row that took its place. */
export function redraw(parent, ...children) {
  const refocus = parent.contains(document.activeElement) && focusKeeper(parent, document.activeElement);
  const top = scrollY;
  fill(parent, ...children);
  if (scrollY !== top) scrollTo(0, top);
  if (refocus && document.activeElement === document.body) refocus();
}

const CONTROLS = 'button:not([disabled]), a, input, summary';

/** A function that focuses the control that stands where this one stood. Rows are told apart by `data-row`. */
function focusKeeper(parent, control) {
  const row = control.closest('li, tr');
  const section = row?.closest('section[id]');
  const rowsOf = () => [...((section && document.getElementById(section.id)) || parent).querySelectorAll(row?.localName ?? 'li, tr')];
  const [at, nth] = [rowsOf().indexOf(row), [...(row ?? parent).querySelectorAll(CONTROLS)].indexOf(control)];
  return () => {
    const rows = rowsOf();
    const next = rows.find((one) => row?.dataset.row && one.dataset.row === row.dataset.row) ?? rows[Math.min(at, rows.length - 1)];
    const controls = (next ?? parent).querySelectorAll(CONTROLS);
    (controls[nth] ?? controls[0] ?? document.getElementById('main')).focus({ preventScroll: true });
  };
}

/** Text in which `code` between backticks is set as code. */
export const coded = (text) => String(text ?? '').split('`').map((part, at) => (at % 2 ? h('code', {}, part) : part));

/** A message in place of content: a title, a hint and an action. */
export function state(title, hint, action) {
  const said = typeof hint === 'string' ? coded(hint) : hint;
  return h('div', { class: 'state' }, h('p', { class: 'state-title' }, title), said && h('p', {}, said), action);
}

export function loading() {
  return h('div', { class: 'state', 'aria-busy': 'true' }, h('p', { class: 'pulse' }, 'Loading…'));
}

/** The message and the hint of an error, in one line. */
export const trouble = (error) => [error.message, error.hint].filter(Boolean).map((text) => text.replace(/([^.!?…])$/, '$1.')).join(' ');

/** An error in place of the content that failed to load, with a button to try again. */
export function failure(error, again) {
  const hint = error.hint || 'Run `claude-mem doctor`: it finds out what is wrong.';
  const box = state(error.message, hint, h('button', { type: 'button', onclick: again }, 'Try again'));
  box.classList.add('failed');
  return box;
}

let dialogs = 0;

/** A dialog that is gone when it is closed, and gives the focus back. It belongs to the view: Back closes it, unless
 *  something may be written in it. */
export function dialog(title, ...content) {
  const id = `dialog-${(dialogs += 1)}`;
  const leave = () => box.querySelector('form') ?? box.close();
  const end = () => {
    removeEventListener('hashchange', leave);
    box.remove();
  };
  const box = h('dialog', { 'aria-labelledby': id, onclose: end }, h('h2', { id }, title), content);
  document.body.append(box);
  box.showModal();
  // A long dialog would begin at its focused button.
  box.scrollTop = 0;
  addEventListener('hashchange', leave);
  return box;
}

/** Asks a question. Closing the dialog means no. */
export function ask(question, yes, no) {
  return new Promise((done) => {
    const answer = (text, look, is, more) => h('button', { type: 'button', class: look, onclick: () => { done(is); box.close(); }, ...more }, text);
    const box = dialog(question, h('div', { class: 'actions' }, answer(no, 'primary', false, { autofocus: true }), answer(yes, 'danger', true)));
    box.addEventListener('close', () => done(false));
  });
}

/** Runs once it was not asked for so long; `now` does so at once. */
export function debounce(wait, run) {
  let timer;
  const later = (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), wait);
  };
  later.now = (...args) => {
    clearTimeout(timer);
    return run(...args);
  };
  return later;
}

/** Runs at once, and then at most once in so long, however often it is asked for: never later than
 *  that after it was asked for last. */
export function throttle(wait, run) {
  let timer = null;
  let isAsked = false;
  const turn = () => {
    timer = null;
    if (isAsked) go();
  };
  const go = () => {
    isAsked = false;
    timer = setTimeout(turn, wait);
    run();
  };
  return () => {
    isAsked = true;
    if (timer === null) go();
  };
}
