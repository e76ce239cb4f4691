// The keyboard: everything can be reached by it, and the usual ways are short.

import { dialog, h } from './dom.js';

const HELP = [
  ['/', 'search'],
  ['j k', 'next and previous memory'],
  ['Enter', 'open or close it'],
  ['a', 'add a memory'],
  ['g f', 'go to the feed'],
  ['g s', 'to the sessions'],
  ['g d', 'to the dashboard'],
  ['g n', 'to the next session'],
  ['g e', 'to the settings'],
  ['Esc', 'leave a field, close what is open'],
  ['?', 'this list'],
];

let going = false;

export function keys(event, { find, add }) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (target.closest('dialog')) return;
  if (target === find) return inFind(event, find);
  if (target.closest('input:not([type="checkbox"], [type="range"]), textarea, select')) return undefined;
  const card = target.closest('mem-card');
  const does = going ? { [key]: () => document.querySelector(`.side a[data-key="${CSS.escape(key)}"]`)?.click() } : {
    '/': () => find.select(),
    j: () => walk(1),
    k: () => walk(-1),
    g: () => (going = true),
    a: add,
    '?': help,
    Escape: () => card?.isOpen && card.toggle(false),
  };
  going = false;
  if (!Object.hasOwn(does, key)) return undefined;
  event.preventDefault();
  return does[key]();
}

function inFind(event, find) {
  if (event.key === 'Escape') find.blur();
  else if (event.key === 'ArrowDown') {
    event.preventDefault();
    walk(1);
  }
}

function walk(step) {
  const all = [...document.querySelectorAll('.card-toggle')];
  const here = document.activeElement.closest('mem-card')?.querySelector('.card-toggle');
  // From nowhere: the first one in the window.
  const at = here ? all.indexOf(here) + step : all.findIndex((one) => one.getBoundingClientRect().top > 60);
  const next = all[Math.max(0, Math.min(all.length - 1, at))];
  next?.focus({ preventScroll: true });
  next?.closest('mem-card').scrollIntoView({ block: 'nearest' });
}

export function help() {
  const box = dialog(
    'Keyboard',
    h('dl', { class: 'keys' }, HELP.map(([key, what]) => [h('dt', {}, key.split(' ').map((one) => h('kbd', {}, one))), h('dd', {}, what)])),
    h('div', { class: 'actions' }, h('button', { type: 'button', class: 'primary', onclick: () => box.close() }, 'Close')),
  );
}
