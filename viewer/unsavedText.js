// What somebody is writing: nothing of it is thrown away without a word.

import { ask } from './dom.js';

/** Forms, with what was in them at first. */
const begun = new WeakMap();
let asking = null;

const valuesOf = (form) => JSON.stringify([...new FormData(form)]);
const changed = (within) => [...within.querySelectorAll('form')].filter((form) => begun.has(form) && begun.get(form) !== valuesOf(form));

/** From now on it is known whether something in this form was changed. `discard`: what to do when
 *  that is given up. Escape asks for it, except where it only ends a composition. */
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

/** Whether what was written in here may go: asks once if there is something, and then it goes. */
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

/** It is saved, or given up. */
export const isDone = (form) => begun.delete(form);

addEventListener('beforeunload', (event) => {
  if (isWriting()) event.preventDefault();
});
