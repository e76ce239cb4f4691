// Unsaved text in forms: it is never discarded without a question.

import { ask } from './dom.js';

/** Forms with their initial values. */
const begun = new WeakMap();
let asking = null;

const valuesOf = (form) => JSON.stringify([...new FormData(form)]);
const changed = (within) => [...within.querySelectorAll('form')].filter((form) => begun.has(form) && begun.get(form) !== valuesOf(form));

/** Watches a form for changes. `discard` runs when the changes are given up. Escape gives them up, except
 *  where it only ends a composition. */
export function watch(form, discard) {
  begun.set(form, valuesOf(form));
  const leave = () => (isWriting(form.parentElement) ? mayGo(form.parentElement) : discard());
  form.addEventListener('discard', discard);
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    leave();
  });
  return leave;
}

export const isWriting = (within = document) => changed(within).length > 0;

/** Whether unsaved text may be discarded: asks once if there is any, then discards it. */
export async function mayGo(within = document) {
  if (!isWriting(within)) return true;
  asking ??= ask('Discard what you wrote?', 'Discard', 'Keep writing');
  const may = await asking;
  asking = null;
  if (!may) return false;
  for (const form of changed(within)) {
    begun.delete(form);
    form.dispatchEvent(new Event('discard'));
  }
  return true;
}

/** The form was saved or discarded. */
export const isDone = (form) => begun.delete(form);

addEventListener('beforeunload', (event) => {
  if (isWriting()) event.preventDefault();
});
