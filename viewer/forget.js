// Forgetting memories: the message offers the undo, and other rows that say the same.

import { get, post } from './api.js';
import { ask, trouble } from './dom.js';
import { brief, plural, titleOf } from './format.js';
import { offerSiblings } from './siblings.js';
import { undoToast } from './toasts.js';

/** Characters of a title in a message. */
const NAME_CHARS = 48;
/** Rows whose siblings one request can ask for. */
const SIBLINGS_OF_MAX = 200;

export const shortTitle = (row) => `“${brief(titleOf(row), NAME_CHARS).replaceAll('`', '')}”`;

const messageOf = (rows) => (rows.length === 1 ? `Forgot ${shortTitle(rows[0])}` : `Forgot ${plural(rows.length, 'memory', 'memories')}`);
const laterOf = (rows) => (rows.length === 1 ? `Later: \`claude-mem forget --undo '${rows[0].handle}'\`` : '');

/** Forgets rows. `changed` runs when rows are gone, `restored` when the undo has brought them back. */
export async function forgetRows(rows, { changed = () => {}, restored = changed } = {}) {
  const handles = rows.map((row) => row.handle);
  // Before they are gone. Siblings that could not be listed do not prevent forgetting, but the message says so.
  const { items, error } = await get('/api/siblings', { row: handles.slice(0, SIBLINGS_OF_MAX).join(',') }).catch((failure) => ({ items: [], error: failure }));
  const { done } = await post('/api/memory/bulk', { handles, action: 'forget' });
  const gone = rows.filter((row) => done.includes(row.handle));
  const also = [];
  await changed(gone);
  const note = [laterOf(gone), error && `Rows that say the same could not be listed: ${trouble(error)}`].filter(Boolean).join('. ');
  undoToast(messageOf(gone), note, async () => {
    const { skipped } = await post('/api/memory/bulk', { handles: [...done, ...also], action: 'restore' });
    if (skipped.length) throw new Error(`Cannot restore ${skipped.join(', ')}`);
    await restored(gone);
  }, { more: items.length > 0 && offerSiblings(items, also, changed) });
}

/** Forgets every row of a list after a question. False if the answer is no. */
export async function forgetAll(rows, changed) {
  if (!(await ask(`Forget these ${rows.length} memories?`, `Forget ${rows.length}`, 'Keep them'))) return false;
  await forgetRows(rows, { changed });
  return true;
}
