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

/** A message in place of content: what is the matter, and what to do. */
export function state(title, hint, action) {
  return h('div', { class: 'state' }, h('p', { class: 'state-title' }, title), hint && h('p', {}, hint), action);
}

export function loading(what = 'Loading') {
  return h('div', { class: 'state', 'aria-busy': 'true' }, h('p', { class: 'pulse' }, `${what}…`));
}

/** Something to say, and maybe to take back, for a few seconds. */
export function toast(text, action) {
  const box = h('div', { class: 'toast' }, h('span', {}, text));
  const close = () => box.remove();
  if (action) box.append(h('button', { type: 'button', class: 'quiet', onclick: () => { close(); action.run(); } }, action.name));
  document.getElementById('toasts').append(box);
  setTimeout(close, action ? 10_000 : 4_000);
}

export function debounce(wait, run) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => run(...args), wait);
  };
}
