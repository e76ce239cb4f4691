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

/** Replaces what stands in `parent`. */
export function fill(parent, ...children) {
  parent.replaceChildren(...nodes(children));
  return parent;
}

/** Text in which `code` between backticks is set as code. */
export const coded = (text) => String(text ?? '').split('`').map((part, at) => (at % 2 ? h('code', {}, part) : part));

/** A message in place of content: what is the matter, and what to do. */
export function state(title, hint, action) {
  const said = typeof hint === 'string' ? coded(hint) : hint;
  return h('div', { class: 'state' }, h('p', { class: 'state-title' }, title), said && h('p', {}, said), action);
}

export function loading(what = 'Loading') {
  return h('div', { class: 'state', 'aria-busy': 'true' }, h('p', { class: 'pulse' }, `${what}…`));
}

/** What went wrong, in one line. */
export const trouble = (error) => [error.message, error.hint].filter(Boolean).map((text) => text.replace(/([^.!?…])$/, '$1.')).join(' ');

/** Something to say, and maybe to take back. It stays while somebody points at it. */
export function toast(text, action) {
  const box = h('div', { class: 'toast' }, h('span', {}, coded(text)));
  const close = () => box.remove();
  let timer;
  const wait = () => (timer = setTimeout(close, action ? 10_000 : 5_000));
  const stay = () => clearTimeout(timer);
  for (const come of ['pointerenter', 'focusin']) box.addEventListener(come, stay);
  for (const go of ['pointerleave', 'focusout']) box.addEventListener(go, wait);
  if (action) box.append(h('button', { type: 'button', class: 'quiet', onclick: () => { stay(); close(); action.run(); } }, action.name));
  const toasts = document.getElementById('toasts');
  while (toasts.childElementCount > 3) toasts.firstChild.remove();
  toasts.append(box);
  wait();
}

/** A dialog that is gone when it is closed, and gives the focus back. */
export function dialog(title, ...content) {
  const box = h('dialog', { 'aria-labelledby': 'dialog-title', onclose: () => box.remove() }, h('h2', { id: 'dialog-title' }, title), content);
  document.body.append(box);
  box.showModal();
  return box;
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
