// A table that becomes a list where there is no room for columns.

import { h } from './dom.js';
import { hrefOf, marked } from './format.js';

/** `columns`: `{name, cell(row), figure}`; figures stand at the right and keep their name in a list. */
export function table(name, columns, rows, caption) {
  const head = columns.map((column) => h('th', { scope: 'col', role: 'columnheader', class: column.figure && 'figure' }, column.name));
  const line = (row) => h('tr', { role: 'row', 'data-row': row.handle }, columns.map((column) => h('td', { role: 'cell', class: column.figure && 'figure', 'data-name': column.name }, column.cell(row))));
  return h(
    'div',
    { class: 'scroll sheet', tabindex: '0', role: 'region', 'aria-label': name },
    h(
      'table',
      { role: 'table' },
      caption && h('caption', {}, caption),
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, head)),
      h('tbody', { role: 'rowgroup' }, rows.map(line)),
    ),
  );
}

/** A memory in a line: its title, which leads to it, and how to ask for it. */
export function named({ title, handle }, sign) {
  const link = h('a', { class: 'plain', href: hrefOf(handle), dir: 'auto' }, marked(title || '(no title)'));
  return h('span', { class: 'with-mark' }, sign, h('span', {}, link, ' ', h('span', { class: 'mono soft' }, handle)));
}
