// The injected text as a table: each line with its reason, its tokens and its actions.

import { patch } from './api.js';
import { h, trouble } from './dom.js';
import { forgetRows } from './forget.js';
import { apiOf, count, hrefOf, mark, marked, plural, rowOf } from './format.js';
import { toast, undoToast } from './toasts.js';

/** The id at the start of a line, or the one in the heading of the last session. */
const HANDLE = /^- ([#SPMA]\d+)\b|^## .*\b(A\d+)\)$/;

/** The memories among the rows of the text; the others are accounts and summaries. */
export const memoriesIn = (block) => block.items.filter((item) => item.handle.startsWith('#'));

export function contextLines(block, show) {
  const items = new Map(block.items.map((item) => [item.handle, item]));
  const run = (act) => async () => {
    try {
      await act();
      await show();
    } catch (error) {
      toast(trouble(error));
    }
  };
  const actions = (item) => actionsOf(item, run, show);
  const line = (text) => {
    const [, listed, headed] = HANDLE.exec(text) ?? [];
    const item = items.get(listed ?? headed);
    const look = text.startsWith('#') ? 'line-heading' : null;
    if (!item) return h('tr', { class: look }, h('td', { class: 'line', dir: 'auto', colspan: '4' }, text));
    return h(
      'tr',
      { class: look, 'data-row': item.handle },
      h('td', { class: 'line', dir: 'auto' }, listed ? withLink(text, listed) : text),
      h('td', {}, item.reason),
      h('td', { class: 'figure', 'data-name': 'Tokens' }, count(item.tokens)),
      h('td', {}, actions(item)),
    );
  };
  const omitted = (item) => h(
    'tr',
    { class: 'omitted', 'data-row': item.handle },
    h('td', {}, h('span', { class: 'with-mark' }, mark(item.type), h('span', {}, h('a', { class: 'plain', href: hrefOf(item.handle), dir: 'auto' }, marked(item.title)), ' ', h('span', { class: 'mono soft' }, item.handle)))),
    h('td', {}, item.reason),
    h('td', { class: 'figure', 'data-name': 'Tokens' }, count(item.tokens)),
    h('td', {}, actions(item)),
  );
  const copy = () => navigator.clipboard.writeText(block.text).then(() => toast('Copied.'), () => toast('The browser does not allow copying.'));
  // `leftOut` counts candidates only; the project may know more memories.
  const rest = Math.max(block.known - memoriesIn(block).length, block.leftOut);
  const cut = h('tr', { class: 'cut' }, h('th', { colspan: '4', scope: 'colgroup' }, rest ? `Cut here by the budget of ${plural(block.budget, 'token')}. Left out: ${plural(rest, 'memory', 'memories')}${block.omitted.length ? `; the next ${block.omitted.length} are below` : ''}` : 'Nothing is left out'));
  return [
    h('div', { class: 'bar-top' }, h('h2', {}, 'The text'), h('button', { type: 'button', class: 'small', onclick: copy }, 'Copy the text')),
    h(
      'div',
      { class: 'scroll sheet', tabindex: '0', role: 'region', 'aria-label': 'The text, line by line' },
      h(
        'table',
        { class: 'lines' },
        h('thead', {}, h('tr', {}, ['Line', 'Reason'].map((name) => h('th', { scope: 'col' }, name)), h('th', { scope: 'col', class: 'figure' }, 'Tokens'), h('th', { scope: 'col' }, h('span', { class: 'sr' }, 'Actions')))),
        h('tbody', {}, block.text.split('\n').map(line)),
        h('tbody', {}, cut, block.omitted.map(omitted)),
      ),
    ),
  ];
}

function withLink(text, handle) {
  const at = text.indexOf(handle);
  return [text.slice(0, at), h('a', { href: hrefOf(handle) }, handle), text.slice(at + handle.length)];
}

function actionsOf(item, run, show) {
  const row = rowOf(item.handle);
  const button = (name, does, look = '') => h('button', { type: 'button', class: `small ${look}`, 'aria-label': `${name} ${item.handle}`, onclick: run(does) }, name);
  const pin = (pinned) => async () => {
    await patch(apiOf(row), { pinned });
    undoToast(`${pinned ? 'Pinned' : 'Unpinned'} ${item.handle}`, '', run(() => patch(apiOf(row), { pinned: !pinned })), { isShort: true });
  };
  const forget = async () => {
    await forgetRows([{ ...row, handle: item.handle, title: item.title || item.handle }], { changed: () => show() });
  };
  return h('span', { class: 'actions nowrap' }, row.kind === 'observation' && button(item.pinned ? 'Unpin' : 'Pin', pin(!item.pinned)), button('Forget', forget, 'danger'));
}
