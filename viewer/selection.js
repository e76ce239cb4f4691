// Several rows chosen at once, and what can be done with all of them.

import { post } from './api.js';
import { ask, fill, h, trouble } from './dom.js';
import { brief, plural } from './format.js';
import { nameOf, TYPES } from './texts.js';
import { toast, undoToast } from './toasts.js';

/** Characters of a title in a message. */
const NAME_CHARS = 48;
/** Chosen rows by handle, in the order in which they were chosen. */
const chosen = new Map();
let last = null;
let bar = null;

const cards = () => [...document.querySelectorAll('main mem-card')];
export const isSelected = (handle) => chosen.has(handle);

function show() {
  for (const card of cards()) {
    const isChosen = chosen.has(card.row.handle);
    card.classList.toggle('selected', isChosen);
    const box = card.querySelector(':scope > .select');
    if (box) box.checked = isChosen;
  }
  const isOn = chosen.size > 0;
  document.body.toggleAttribute('data-selecting', isOn);
  if (!isOn) {
    bar?.remove();
    bar = null;
    return;
  }
  if (!bar) {
    bar = h('div', { class: 'selection', role: 'toolbar', 'aria-label': 'Selected memories' });
    document.body.append(bar);
  }
  const had = bar.contains(document.activeElement) && document.activeElement.dataset.act;
  const button = (act, name, run, look = '') => h('button', { type: 'button', class: `small ${look}`, 'data-act': act, onclick: run }, name);
  const types = h('select', { 'aria-label': 'Change type', onchange: (event) => event.target.value && bulk('retype', 'Type changed', { type: event.target.value }) }, h('option', { value: '' }, 'Change type…'), TYPES.map((type) => h('option', { value: type }, nameOf(type))));
  fill(
    bar,
    h('span', { role: 'status' }, `${plural(chosen.size, 'memory', 'memories')} selected`),
    button('pin', 'Pin', () => bulk('pin', 'Pinned')),
    types,
    button('export', 'Export', exportChosen),
    button('forget', 'Forget', () => bulk('forget', 'Forgot'), 'danger'),
    button('clear', 'Clear', clearSelection, 'quiet'),
  );
  if (had) bar.querySelector(`[data-act="${had}"]`)?.focus();
}

export function clearSelection() {
  chosen.clear();
  last = null;
  show();
}

/** Chooses a row, or gives it up. With `isRange`, also all between it and the last one. */
export function select(card, isRange = false) {
  const all = cards();
  const [from, to] = [all.findIndex((one) => one.row.handle === last), all.indexOf(card)];
  if (isRange && from >= 0) {
    for (const one of all.slice(Math.min(from, to), Math.max(from, to) + 1)) if (one.row.kind === 'observation') chosen.set(one.row.handle, one.row);
  } else if (chosen.has(card.row.handle)) chosen.delete(card.row.handle);
  else chosen.set(card.row.handle, card.row);
  last = card.row.handle;
  show();
}

const UNDO = { pin: 'unpin', forget: 'restore' };

async function bulk(action, said, more = {}) {
  // As they are now: the stream changes the rows of a list.
  const rows = [...chosen.values()].map((row) => ({ ...row }));
  const handles = rows.map((row) => row.handle);
  const held = new Map(cards().map((card) => [card.row.handle, card.holder]));
  try {
    const { done } = await post('/api/memory/bulk', { handles, action, ...more });
    clearSelection();
    const changed = rows.filter((row) => done.includes(row.handle));
    if (action === 'forget') for (const row of changed) held.get(row.handle)?.drop(row.kind, row.id);
    undoToast(`${said}: ${plural(done.length, 'memory', 'memories')}`, '', () => undo(action, changed), { isShort: action !== 'forget' });
    document.getElementById('main').focus({ preventScroll: true });
  } catch (error) {
    toast(trouble(error));
  }
}

async function undo(action, rows) {
  if (action !== 'retype') {
    const was = action === 'pin' ? rows.filter((row) => !row.pinned) : rows;
    await post('/api/memory/bulk', { handles: was.map((row) => row.handle), action: UNDO[action] });
    return;
  }
  for (const type of new Set(rows.map((row) => row.type))) await post('/api/memory/bulk', { handles: rows.filter((row) => row.type === type).map((row) => row.handle), action, type });
}

const exportChosen = () => saveFile([...chosen.values()]);

/** Saves rows as a file, in the form in which the API sends them. */
export function saveFile(rows, name = 'memories') {
  const url = URL.createObjectURL(new Blob([JSON.stringify(rows, null, 2)], { type: 'application/json' }));
  const link = h('a', { href: url, download: `claude-mem-${name}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  toast(`Exported ${plural(rows.length, 'entry', 'entries')}.`);
}

/** Forgets every row of a list after a question; used where a list says that its rows are useless. */
export async function forgetAll(rows, question) {
  if (!(await ask(question, `Forget ${rows.length}`, 'Keep them'))) return false;
  await forgetRows(rows);
  return true;
}

/** Forgets rows; the message offers the undo. */
export async function forgetRows(rows) {
  const { done } = await post('/api/memory/bulk', { handles: rows.map((row) => row.handle), action: 'forget' });
  undoToast(rows.length === 1 ? `Forgot “${brief(rows[0].title, NAME_CHARS)}”` : `Forgot ${plural(done.length, 'memory', 'memories')}`, '', () => post('/api/memory/bulk', { handles: done, action: 'restore' }));
}

addEventListener('hashchange', clearSelection);
