// Short messages at the edge of the page, and the undo of changes.

import { coded, fill, h, trouble } from './dom.js';

const SHORT_MS = 5_000;
/** Messages about marks disappear after this; the last one about forgetting stays until it is closed. */
const OLD_MS = 10_000;
const SHOWN_MAX = 3;

const place = document.getElementById('toasts');
/** Changes that can be undone, newest last, also after their message is gone. */
const undoable = [];

function put(box) {
  while (place.childElementCount >= SHOWN_MAX) place.firstChild.remove();
  place.append(box);
}

/** Takes it away after a while, but not while somebody points at it or is in it. */
function expire(box, wait) {
  let timer = setTimeout(() => box.remove(), wait);
  const stay = () => clearTimeout(timer);
  const go = () => (timer = setTimeout(() => box.remove(), wait));
  for (const come of ['pointerenter', 'focusin']) box.addEventListener(come, stay);
  for (const leave of ['pointerleave', 'focusout']) box.addEventListener(leave, go);
}

/** Something to say. */
export function toast(text) {
  const box = h('div', { class: 'toast' }, h('span', {}, coded(text)));
  put(box);
  expire(box, SHORT_MS);
}

/** Something that was done and can be undone by `run`, now or, as `later` says, in another way. `isShort`: the
 *  message goes by itself; `more` is another control in it. It takes the place of the one before, which comes
 *  back when this one is undone: messages do not pile up over the page. */
export function undoToast(text, later, run, { isShort = false, more = null } = {}) {
  const note = h('span', { class: 'meta' }, later ? coded(later) : []);
  let isBusy = false;
  const undo = async () => {
    if (isBusy) return;
    isBusy = true;
    try {
      await run();
      undoable.splice(undoable.indexOf(undo), 1);
      box.remove();
      if (!covered) return;
      put(covered);
      expire(covered, OLD_MS);
    } catch (error) {
      // Nothing is lost: it can be tried again.
      fill(note, trouble(error));
      if (!box.isConnected) put(box);
    } finally {
      isBusy = false;
    }
  };
  const box = h(
    'div',
    { class: 'toast' },
    h('span', {}, coded(text), note),
    more,
    h('button', { type: 'button', class: 'quiet', 'aria-keyshortcuts': 'u', onclick: undo }, 'Undo ', h('kbd', { 'aria-hidden': 'true' }, 'u')),
    h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => box.remove() }, '×'),
  );
  const covered = [...place.children].findLast((older) => older.querySelector('button'));
  covered?.remove();
  undoable.push(undo);
  put(box);
  if (isShort) expire(box, OLD_MS);
}

/** Undoes the last change. */
export const undoLast = () => undoable.at(-1)?.();
