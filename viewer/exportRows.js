// Saves the rows that a view lists as a file, in the form in which the API sends them.

import { h } from './dom.js';
import { plural } from './format.js';
import { toast } from './toasts.js';

const REVOKE_MS = 10_000;

export function saveFile(rows, name = 'memories') {
  const url = URL.createObjectURL(new Blob([JSON.stringify(rows, null, 2)], { type: 'application/json' }));
  const link = h('a', { href: url, download: `claude-mem-${name}.json` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_MS);
  toast(`Exported ${plural(rows.length, 'entry', 'entries')}.`);
}

/** A button that saves the rows that `listed()` returns when it is pressed. */
export function exportButton(listed, name) {
  const save = () => {
    const rows = listed();
    if (rows.length > 0) saveFile(rows, name);
    else toast('Nothing to export: the list is empty.');
  };
  return h('button', { type: 'button', class: 'small', 'data-act': 'export-list', title: 'Saves the rows that are listed as a JSON file', onclick: save }, 'Export');
}
