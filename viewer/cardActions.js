// The actions on a card: edit, mark, forget. Every change can be undone.

import { get, patch, post, Refused } from './api.js';
import { changesOf, hasSame } from './diff.js';
import { fill, h, trouble } from './dom.js';
import { edit } from './edit.js';
import { forgetRows, shortTitle } from './forget.js';
import { apiOf } from './format.js';
import { openPanel } from './provenance.js';
import { TEXTS } from './texts.js';
import { toast, undoToast } from './toasts.js';

/** The buttons of an open card. `card` has `row`, `become(row)` and `startEdit()`. */
export function actionsOf(card) {
  const { row } = card;
  const button = (act, name, run, more = {}) => h('button', { type: 'button', class: 'small', 'data-act': act, onclick: run, ...more }, name);
  const isSuggested = row.level === 'proposed' && row.replacedBy == null;
  const forget = button('forget', 'Forget', () => forgetRow(card), { class: 'small danger' });
  if (row.kind !== 'observation') return h('div', { class: 'actions' }, forget);
  return h(
    'div',
    { class: 'actions' },
    // Another member's memory stays as it was said.
    !row.who && button('edit', 'Edit', () => startEdit(card)),
    button('history', 'Source and use', () => openPanel(row), { title: 'Where it comes from, where it was used, how it changed (i)', 'aria-keyshortcuts': 'i' }),
    !row.who && button('pin', row.pinned ? 'Unpin' : 'Pin', () => change(card, { pinned: !row.pinned }, row.pinned ? 'Unpinned' : 'Pinned'), { title: 'Every session of the project receives pinned memories' }),
    row.wrong
      ? button('wrong', TEXTS.correct, () => change(card, { wrong: false }, 'Marked as correct'), { title: 'Sessions may receive it again' })
      : button('wrong', 'Mark as wrong', () => change(card, { wrong: true }, 'Marked as wrong'), { title: 'No session receives a wrong memory' }),
    !row.wrong && button('useless', row.useless ? 'Marked not useful' : 'Not useful', () => markUseless(card), { title: 'Sessions receive it less often', disabled: Boolean(row.useless) }),
    isSuggested && button('level', TEXTS.everyProject, () => change(card, { level: 'user' }, 'Applied to all projects')),
    (row.level === 'user' || isSuggested) && row.project && button('limit', TEXTS.onlyProject, () => change(card, { level: 'project' }, 'Limited to its project')),
    forget,
  );
}

/** Changes marks of a row; the undo restores those that it had. */
async function change(card, edit, said) {
  const { row } = card;
  const before = { pinned: row.pinned, wrong: row.wrong, level: row.level };
  const was = Object.fromEntries(Object.keys(edit).map((key) => [key, before[key]]));
  // A wrong memory is not pinned: undoing the one mark brings back the other.
  if (edit.wrong && before.pinned) was.pinned = true;
  if (edit.pinned && before.wrong) was.wrong = true;
  try {
    if (edit.wrong) await post('/api/feedback', { handle: row.handle, signal: 'wrong' });
    card.become(await patch(apiOf(row), edit));
    undoToast(`${said}: ${shortTitle(row)}`, '', async () => card.become(await patch(apiOf(row), was)), { isShort: true });
  } catch (error) {
    toast(trouble(error));
  }
}

async function markUseless(card) {
  const { row } = card;
  if (row.useless) return;
  try {
    await post('/api/feedback', { handle: row.handle, signal: 'useless' });
    card.become({ ...row, useless: true });
    undoToast('Sessions will receive it less often.', '', async () => {
      await post('/api/feedback', { handle: row.handle, signal: 'useless', undo: true });
      card.become({ ...card.row, useless: false });
    }, { isShort: true });
  } catch (error) {
    toast(trouble(error));
  }
}

/** Puts the form into the card. A conflict with an edit made elsewhere shows both versions. */
function startEdit(card) {
  const body = card.querySelector('.card-body');
  // A copy: a list changes its rows in place when the stream reports an edit made elsewhere.
  let base = { ...card.row };
  const end = () => {
    fill(body);
    card.render();
    card.querySelector('[data-act="edit"]')?.focus({ preventScroll: true });
    card.dispatchEvent(new Event('free', { bubbles: true }));
  };
  const done = (row) => {
    fill(body);
    card.become(row);
    end();
  };
  const save = async (changed, form) => {
    try {
      done(await patch(apiOf(base), { ...changed, expectedUpdatedAt: base.updatedAt }));
    } catch (error) {
      const status = error instanceof Refused ? error.status : null;
      if (status === 404) offerNew(form, { ...base, ...changed }, done);
      else if (status !== 409) throw error;
      else {
        const theirs = await get(apiOf(base));
        const isApart = hasSame(Object.keys(changed), theirs, base);
        base = theirs;
        // Another field was changed: the edits do not contradict each other.
        if (isApart) return save(changed, form);
        showConflict(form, theirs, { ...base, ...changed }, { overwrite: () => save(changed, form), discard: () => done(theirs) });
      }
      return false;
    }
    return true;
  };
  edit(body, base, { save, cancel: end });
}

function showConflict(form, theirs, mine, { overwrite, discard }) {
  const run = (act) => () => Promise.resolve(act()).catch((error) => toast(trouble(error)));
  const box = h(
    'div',
    { class: 'conflict', role: 'alert' },
    h('p', { class: 'state-title' }, 'This memory was changed elsewhere'),
    h('p', {}, 'From the stored version to yours:'),
    changesOf(theirs, mine),
    h('div', { class: 'actions' }, h('button', { type: 'button', class: 'danger', onclick: run(overwrite) }, 'Save mine'), h('button', { type: 'button', onclick: run(discard) }, 'Use the stored version')),
  );
  form.querySelector('.conflict')?.remove();
  form.querySelector('.actions').before(box);
  box.querySelector('button').focus();
}

/** The memory was forgotten while it was edited. */
function offerNew(form, row, done) {
  const create = async () => {
    const { id } = await post('/api/memory/save', { text: row.narrative || row.title, title: row.title, type: row.type, project: row.project?.id, global: !row.project });
    const made = await patch(`/api/observations/${id}`, { subtitle: row.subtitle, facts: row.facts, concepts: row.concepts });
    toast(`Saved as ${made.handle}`);
    done(made);
  };
  const box = h(
    'div',
    { class: 'conflict', role: 'alert' },
    h('p', { class: 'state-title' }, 'This memory was forgotten meanwhile'),
    h('div', { class: 'actions' }, h('button', { type: 'button', class: 'primary', onclick: () => create().catch((error) => toast(trouble(error))) }, 'Save as new')),
  );
  form.querySelector('.conflict')?.remove();
  form.querySelector('.actions').before(box);
  box.querySelector('button').focus();
}

async function forgetRow(card) {
  const { row } = card;
  // Taken now: the stream may remove the card before the response comes.
  const list = card.holder;
  const putBack = () => {
    list?.putBack(row);
    const back = document.getElementById(`body-${row.kind}-${row.id}-toggle`);
    (back ?? document.getElementById('main')).focus();
  };
  try {
    await forgetRows([row], { changed: (gone) => gone.forEach((one) => list?.drop(one.kind, one.id)), restored: putBack });
  } catch (error) {
    toast(trouble(error));
  }
}
