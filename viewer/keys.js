// The keyboard: every action can be reached by it, and the usual ways are short.

import { dialog, h } from './dom.js';
import { closeOpenPanel } from './provenance.js';
import { clearSelection, select } from './selection.js';
import { undoLast } from './toasts.js';

const HELP = [
  ['Ctrl K', 'commands: every view, project and action'],
  ['/', 'search'],
  ['j k', 'next and previous memory'],
  ['Enter', 'open or close it'],
  ['i', 'its source and use'],
  ['e', 'edit it'],
  ['p', 'pin or unpin it'],
  ['w', 'mark it as wrong or correct'],
  ['Delete', 'forget it'],
  ['x', 'select it; Shift and click selects a range'],
  ['u', 'undo the last change'],
  ['a', 'add a memory'],
  ['c', 'compact or comfortable rows'],
  ['g f', 'go to the feed'],
  ['g s', 'to the sessions'],
  ['g p', 'to the project'],
  ['g c', 'to the context preview'],
  ['g r', 'to the review'],
  ['g u', 'to the usage'],
  ['g t', 'to the team, if you belong to one'],
  ['g d', 'to the dashboard'],
  ['g e', 'to the settings'],
  ['Esc', 'leave a field, close what is open'],
  ['?', 'this list'],
];
/** Speech control may not want letters to do anything. */
const LETTERS = 'claude-mem-letters';
const areLettersOn = () => localStorage.getItem(LETTERS) !== 'off';
/** `g` waits so long for its second letter. */
const GOING_MS = 1_500;

/** When `g` was pressed. */
let going = -Infinity;

export function keys(event, { find, add, commands }) {
  const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k' && !event.altKey && !event.shiftKey;
  if (isPalette && !('locked' in document.body.dataset)) {
    event.preventDefault();
    return commands();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return undefined;
  const { target, key } = event;
  if (document.querySelector('dialog') || 'locked' in document.body.dataset) return undefined;
  if (target === find) return inFind(event, find);
  if (target.closest('input:not([type="checkbox"], [type="range"], [type="radio"]), textarea, select')) return undefined;
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
    c: () => document.getElementById('density')?.click(),
    '?': help,
    ...(card && onCard(card)),
  };
  const does = { ...(areLettersOn() && letters), Escape: () => leave(card) };
  if (!Object.hasOwn(does, key)) return undefined;
  event.preventDefault();
  return does[key]();
}

/** The keys of the focused card. */
function onCard(card) {
  const act = (name) => () => {
    if (!card.isOpen) card.toggle(true);
    card.querySelector(`[data-act="${name}"]`)?.click();
  };
  const isMemory = card.row.kind === 'observation';
  return {
    Delete: act('forget'),
    ...(isMemory && { x: () => select(card), e: act('edit'), i: act('history'), p: act('pin'), w: act('wrong') }),
  };
}

function leave(card) {
  if (closeOpenPanel()) return;
  if (card?.isOpen) card.toggle(false);
  else clearSelection();
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
    h('dl', { class: 'keys' }, HELP.map(([key, what]) => h('div', {}, h('dt', {}, key.split(' ').map((one) => h('kbd', {}, one))), h('dd', {}, what)))),
    h('label', { class: 'check' }, letters, 'Single-key shortcuts'),
    h('div', { class: 'actions' }, h('button', { type: 'button', class: 'primary', autofocus: true, onclick: () => box.close() }, 'Close')),
  );
}
