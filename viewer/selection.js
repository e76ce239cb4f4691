// Several selected rows, and the actions on all of them: pin, retype, export, forget.

import { post } from './api.js';
import { fill, h, trouble } from './dom.js';
import { saveFile } from './exportRows.js';
import { forgetRows } from './forget.js';
import { plural } from './format.js';
import { nameOf, TYPES } from './texts.js';
import { toast, undoToast } from './toasts.js';

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
    button('export', 'Export', () => saveFile([...chosen.values()])),
    button('forget', 'Forget', forgetChosen, 'danger'),
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

/** The chosen rows as they are now: the stream changes the rows of a list. */
const copies = () => [...chosen.values()].map((row) => ({ ...row }));

async function forgetChosen() {
  const held = new Map(cards().map((card) => [card.row.handle, card.holder]));
  try {
    await forgetRows(copies(), {
      changed: (gone) => {
        clearSelection();
        for (const row of gone) held.get(row.handle)?.drop(row.kind, row.id);
      },
      restored: () => {},
    });
    document.getElementById('main').focus({ preventScroll: true });
  } catch (error) {
    toast(trouble(error));
  }
}

async function bulk(action, said, more = {}) {
  const rows = copies();
  try {
    const { done } = await post('/api/memory/bulk', { handles: rows.map((row) => row.handle), action, ...more });
    clearSelection();
    const changed = rows.filter((row) => done.includes(row.handle));
    undoToast(`${said}: ${plural(done.length, 'memory', 'memories')}`, '', () => undo(action, changed), { isShort: true });
    document.getElementById('main').focus({ preventScroll: true });
  } catch (error) {
    toast(trouble(error));
  }
}

async function undo(action, rows) {
  if (action === 'pin') {
    const unpinned = rows.filter((row) => !row.pinned);
    await post('/api/memory/bulk', { handles: unpinned.map((row) => row.handle), action: 'unpin' });
    return;
  }
  for (const type of new Set(rows.map((row) => row.type))) await post('/api/memory/bulk', { handles: rows.filter((row) => row.type === type).map((row) => row.handle), action, type });
}

addEventListener('hashchange', clearSelection);
