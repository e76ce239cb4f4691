// The keyboard: everything can be reached by it, and the usual ways are short.

import { dialog, h } from './dom.js';
import { undoLast } from './toasts.js';

const HELP = [
  ['/', 'search'],
  ['j k', 'next and previous memory'],
  ['Enter', 'open or close it'],
  ['u', 'take back what was forgotten last'],
  ['a', 'add a memory'],
  ['g f', 'go to the feed'],
  ['g s', 'to the sessions'],
  ['g d', 'to the dashboard'],
  ['g n', 'to the next session'],
  ['g e', 'to the settings'],
  ['Esc', 'leave a field, close what is open'],
  ['?', 'this list'],
];
/** Whoever speaks to the computer may not want letters to do anything. */
const LETTERS = 'claude-mem-letters';
const areLettersOn = () => localStorage.getItem(LETTERS) !== 'off';
/** `g` waits so long for its second letter. */
const GOING_MS = 1_500;

/** When `g` was pressed. */
let going = -Infinity;

export function keys(event, { find, add }) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  const { target, key } = event;
  if (document.querySelector('dialog') || 'locked' in document.body.dataset) return undefined;
  if (target === find) return inFind(event, find);
  if (target.closest('input:not([type="checkbox"], [type="range"]), textarea, select')) return undefined;
  const card = target.closest('mem-card');
  const isGoing = event.timeStamp - going < GOING_MS;
  going = -Infinity;
  const letters = isGoing ? { [key]: () => document.querySelector(`.side a[data-key="${CSS.escape(key)}"]`)?.click() } : {
    '/': () => find.select(),
    j: () => walk(1),
    k: () => walk(-1),
    g: () => (going = event.timeStamp),
    u: undoLast,
    a: add,
    '?': help,
  };
  const does = { ...(areLettersOn() && letters), Escape: () => card?.isOpen && card.toggle(false) };
  if (!Object.hasOwn(does, key)) return undefined;
  event.preventDefault();
  return does[key]();
}

function inFind(event, find) {
  // Left, not emptied, as some browsers would.
  if (event.key === 'Escape') {
    event.preventDefault();
    find.blur();
  } else if (event.key === 'ArrowDown') {
    event.preventDefault();
    walk(1);
  }
}

function walk(step) {
  const all = [...document.querySelectorAll('.card-toggle')];
  const here = document.activeElement.closest('mem-card')?.querySelector('.card-toggle');
  // From nowhere: the first one in the window.
  const bar = document.querySelector('.top').getBoundingClientRect().bottom;
  const at = here ? all.indexOf(here) + step : all.findIndex((one) => one.getBoundingClientRect().top > bar);
  const next = all[Math.max(0, Math.min(all.length - 1, at))];
  next?.focus({ preventScroll: true });
  next?.closest('mem-card').scrollIntoView({ block: 'nearest' });
}

export function help() {
  if (document.querySelector('dialog')) return;
  const turn = (event) => localStorage.setItem(LETTERS, event.target.checked ? 'on' : 'off');
  const letters = h('input', { type: 'checkbox', class: 'switch', role: 'switch', checked: areLettersOn(), onchange: turn });
  const box = dialog(
    'Keyboard',
    h('dl', { class: 'keys' }, HELP.map(([key, what]) => [h('dt', {}, key.split(' ').map((one) => h('kbd', {}, one))), h('dd', {}, what)])),
    h('label', { class: 'check' }, letters, 'Letters do this'),
    h('div', { class: 'actions' }, h('button', { type: 'button', class: 'primary', autofocus: true, onclick: () => box.close() }, 'Close')),
  );
}
