// The other rows of a turn whose memory was forgotten: they may repeat it.

import { post } from './api.js';
import { dialog, h, trouble } from './dom.js';
import { count, marked, titleOf, typeName } from './format.js';
import { toast } from './toasts.js';

/** A button that lists the siblings; those that are forgotten go into `done`. */
export function offerSiblings(rows, done) {
  const open = () => {
    const boxes = rows.map((row) => h('input', { type: 'checkbox', value: row.handle, checked: row.kind !== 'observation' }));
    const forget = async () => {
      const handles = boxes.filter((one) => one.checked).map((one) => one.value);
      box.close();
      button.remove();
      if (!handles.length) return;
      try {
        const result = await post('/api/memory/bulk', { handles, action: 'forget' });
        done.push(...result.done);
        toast(`Forgot ${count(result.done.length)} more of the turn.`);
      } catch (error) {
        toast(trouble(error));
      }
    };
    const line = (row, at) => h('li', {}, h('label', { class: 'check' }, boxes[at], h('span', { dir: 'auto' }, h('span', { class: 'type' }, `${typeName(row)} `), marked(titleOf(row)))));
    const box = dialog(
      'More of the same turn',
      h('p', { class: 'soft' }, 'They may repeat what was forgotten.'),
      h('ul', { class: 'checklist' }, rows.map(line)),
      h('div', { class: 'actions' }, h('button', { type: 'button', class: 'danger', onclick: forget }, 'Forget selected'), h('button', { type: 'button', autofocus: true, onclick: () => box.close() }, 'Keep')),
    );
  };
  const button = h('button', { type: 'button', class: 'quiet', 'data-act': 'siblings', onclick: open }, `${count(rows.length)} more of the turn…`);
  return button;
}
