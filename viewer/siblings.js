// Rows that repeat a forgotten memory, in any session: they are offered to be forgotten, too.

import { post } from './api.js';
import { dialog, h, trouble } from './dom.js';
import { brief, count, marked, plural, titleOf, typeName } from './format.js';
import { stamp } from './dates.js';
import { toast } from './toasts.js';

/** Characters of a row's text in the list. */
const TEXT_CHARS = 160;
const textOf = (row) => brief(row.narrative || row.completed || row.text || row.done?.[0] || '', TEXT_CHARS);

/** A button that lists the siblings. Those that are forgotten are added to `done`; then `changed` runs. */
export function offerSiblings(rows, done, changed = () => {}) {
  const open = () => {
    const boxes = rows.map((row) => h('input', { type: 'checkbox', value: row.handle, checked: true }));
    const forget = async () => {
      const handles = boxes.filter((one) => one.checked).map((one) => one.value);
      box.close();
      button.remove();
      if (!handles.length) return;
      try {
        const result = await post('/api/memory/bulk', { handles, action: 'forget' });
        done.push(...result.done);
        toast(`Forgot ${plural(result.done.length, 'row')} more.`);
        await changed(rows.filter((row) => result.done.includes(row.handle)));
      } catch (error) {
        toast(trouble(error));
      }
    };
    const line = (row, at) => h(
      'li',
      {},
      h('label', { class: 'check' }, boxes[at], h('span', { dir: 'auto' }, h('span', { class: 'type' }, `${typeName(row)} `), marked(titleOf(row)))),
      h('p', { class: 'meta' }, h('span', { class: 'mono' }, row.handle), h('time', { datetime: new Date(row.createdAt).toISOString() }, stamp(row.createdAt)), titleOf(row) !== textOf(row) && h('span', { dir: 'auto' }, marked(textOf(row)))),
    );
    const box = dialog(
      'Rows that say the same',
      h('p', { class: 'soft' }, 'They repeat a sentence of what was forgotten.'),
      h('ul', { class: 'checklist' }, rows.map(line)),
      h('div', { class: 'actions' }, h('button', { type: 'button', class: 'danger', onclick: forget }, 'Forget selected'), h('button', { type: 'button', autofocus: true, onclick: () => box.close() }, 'Keep')),
    );
  };
  const button = h('button', { type: 'button', class: 'quiet', 'data-act': 'siblings', onclick: open }, `${count(rows.length)} more ${rows.length === 1 ? 'says' : 'say'} the same…`);
  return button;
}
