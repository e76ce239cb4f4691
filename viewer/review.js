// Memories that need a decision: one place to keep, replace or forget them.

import { get, patch, post } from './api.js';
import { debounce, dialog, fill, h, redraw, state, trouble } from './dom.js';
import { ago } from './dates.js';
import { exportButton } from './exportRows.js';
import { forgetAll, forgetRows, shortTitle } from './forget.js';
import { apiOf, hrefOf, mark, marked } from './format.js';
import { openPanel } from './provenance.js';
import { TEXTS } from './texts.js';
import { toast, undoToast } from './toasts.js';

const GROUPS = {
  suggested: ['Suggested preferences', 'Rules that may apply to all your projects.'],
  contradiction: ['Possible contradictions', 'A newer decision on the same subject says something else, and neither replaces the other.'],
  replaced: ['Replaced memories', 'A newer memory says otherwise. Sessions receive only the newer one.'],
  duplicate: ['Near-duplicates', 'Another memory says nearly the same.'],
  missing: ['Files that are gone', 'Every file that these memories edited is missing from the project’s directory.'],
  unused: ['Not used for 90 days', 'No session has fetched or cited them in 90 days.'],
};
/** Rows of one group at first, and at most. */
const GROUP_ROWS = 25;
const GROUP_ROWS_MAX = 200;
/** Missing files that are named in a row. */
const FILES = 3;
/** Groups that compare memories with each other or with the disk are loaded after the others. */
const REQUESTS = ['suggested,replaced,unused', 'contradiction,duplicate,missing'];
/** The relation of a memory to the one beside it. */
const RELATIONS = { replaced: 'Replaced by ', contradiction: 'May contradict ', duplicate: 'Says nearly the same as ' };

export async function review(world) {
  const box = h('div', {});
  let groups = [];
  let limit = GROUP_ROWS;
  let isWhole = false;
  const show = () => {
    const open = Object.keys(GROUPS).map((name) => groups.find((group) => group.name === name)).filter((group) => group?.items.length);
    const rest = !isWhole && h('p', { class: 'note', 'aria-busy': 'true' }, 'Comparing memories and files…');
    const none = isWhole && !open.length && state('Nothing to review', 'No contradictions, duplicates, unused memories or suggestions.');
    redraw(box, open.length > 0 && contents(open), open.map((group) => groupOf(group, load, group.hasMore && limit < GROUP_ROWS_MAX && more)), rest, none);
  };
  const loadSome = async (names) => {
    const found = (await get('/api/review', { project: world.project, groups: names, limit })).groups;
    groups = [...groups.filter((group) => !found.some((other) => other.name === group.name)), ...found];
  };
  const load = async () => {
    await Promise.all(REQUESTS.map(loadSome));
    show();
  };
  const more = async () => {
    limit = GROUP_ROWS_MAX;
    await load().catch((error) => toast(trouble(error)));
  };
  await loadSome(REQUESTS[0]);
  show();
  const loadRest = () => loadSome(REQUESTS[1]).then(() => { isWhole = true; }, (error) => toast(trouble(error))).then(show);
  loadRest();
  const soon = debounce(800, () => box.isConnected && load().catch(() => { /* The stream reports that the worker is gone. */ }));
  world.listen(({ name }) => ['observation', 'removed', 'missed', 'resumed'].includes(name) && soon());
  const listed = () => groups.flatMap(({ name, items }) => items.map((item) => ({ reason: name, ...item })));
  return [h('div', { class: 'bar-top' }, h('h1', {}, 'Review'), h('div', { class: 'actions' }, exportButton(listed, 'review'), h('a', { href: '#/trash' }, 'Trash'))), box];
}

const contents = (groups) => h('p', { class: 'note' }, groups.map((group, at) => [at > 0 && ' · ', h('a', { href: `#review-${group.name}`}, `${GROUPS[group.name][0]} (${group.items.length}${group.hasMore ? '+' : ''})`)]));

function groupOf({ name, items, hasMore }, load, more) {
  const [title, about] = GROUPS[name];
  const forget = async () => {
    try {
      await forgetAll(items.map(({ row }) => row), load);
    } catch (error) {
      toast(trouble(error));
    }
  };
  return h(
    'section',
    { class: 'review-group', id: `review-${name}`, 'aria-label': title },
    h('div', { class: 'bar-top' }, h('div', {}, h('h2', {}, `${title} `, h('span', { class: 'soft' }, `${items.length}${hasMore ? '+' : ''}`)), h('p', { class: 'soft' }, about)), (name === 'unused' || name === 'missing') && h('button', { type: 'button', class: 'small danger', onclick: forget }, `Forget all ${items.length}`)),
    h('ul', { class: 'rows sheet' }, items.map((item) => itemOf(name, item, load))),
    more && h('button', { type: 'button', class: 'small', 'data-act': 'more', onclick: more }, 'More'),
  );
}

function itemOf(group, { row, other, files = [] }, load) {
  const run = (act) => async () => {
    try {
      await act();
      await load();
    } catch (error) {
      toast(trouble(error));
    }
  };
  const name = shortTitle(row);
  const isPair = group === 'replaced' || group === 'contradiction';
  const button = (act, text, does, look = '') => h('button', { type: 'button', class: `small ${look}`, 'data-act': act, onclick: run(does) }, text);
  const keepAsIs = (more) => post('/api/review/keep', { handle: row.handle, reason: group, ...(other && { other: other.handle }), ...more });
  const keepIt = async () => {
    if (group === 'replaced') {
      await post(`/api/observations/${row.id}/replace`, { by: null });
      undoToast(`Kept both: ${name}`, '', run(() => post(`/api/observations/${row.id}/replace`, { by: other.handle })), { isShort: true });
    } else if (group === 'suggested') {
      await patch(apiOf(row), { level: 'user' });
      undoToast(`Applied to all projects: ${name}`, '', run(() => patch(apiOf(row), { level: 'proposed' })), { isShort: true });
    } else {
      await keepAsIs({});
      undoToast(`${isPair ? 'Kept both' : 'Kept'}: ${name}`, '', run(() => keepAsIs({ undo: true })), { isShort: true });
    }
  };
  const limitIt = async () => {
    await patch(apiOf(row), { level: 'project' });
    undoToast(`Limited to its project: ${name}`, '', run(() => patch(apiOf(row), { level: 'proposed' })), { isShort: true });
  };
  const replace = async (by) => {
    await post(`/api/observations/${row.id}/replace`, { by });
    undoToast(`Replaced ${name} by ${by}`, '', run(() => post(`/api/observations/${row.id}/replace`, { by: row.replacedBy ? `#${row.replacedBy}` : null })), { isShort: true });
  };
  return h(
    'li',
    { class: `row review-item ${other || files.length || group === 'suggested' ? '' : 'one-line'}`, 'data-row': row.handle },
    h('span', { class: 'with-mark' }, mark(row.type), h('span', {}, h('a', { class: 'plain', href: hrefOf(row.handle), dir: 'auto' }, marked(row.title)), ' ', h('span', { class: 'mono soft' }, row.handle))),
    h('span', { class: 'when' }, ago(row.createdAt)),
    other && h('p', { class: 'meta' }, RELATIONS[group], h('a', { href: hrefOf(other.handle), dir: 'auto' }, marked(other.title)), ` ${other.handle}, ${ago(other.createdAt)}`),
    files.length > 0 && h('p', { class: 'meta mono' }, files.slice(0, FILES).join(', '), files.length > FILES && ` +${files.length - FILES}`),
    h(
      'span',
      { class: 'actions' },
      button('keep', isPair ? 'Keep both' : group === 'suggested' ? TEXTS.everyProject : 'Keep', keepIt),
      group === 'suggested' && row.project && button('limit', TEXTS.onlyProject, limitIt),
      (group === 'duplicate' || group === 'contradiction') && other && button('merge', `Replace with ${other.handle}`, () => replace(other.handle)),
      h('button', { type: 'button', class: 'small', 'data-act': 'replace', onclick: () => chooseReplacement(row, run, replace) }, 'Replace with…'),
      h('button', { type: 'button', class: 'small', 'data-act': 'history', onclick: () => openPanel(row) }, 'Source and use'),
      button('forget', 'Forget', () => forgetRows([row], { changed: load }), 'danger'),
    ),
  );
}

/** Asks for the memory that takes the place of this one, by its words or its id. */
function chooseReplacement(row, run, replace) {
  const list = h('ul', { class: 'near' });
  const pick = (one) => h('li', {}, h('button', { type: 'button', class: 'pick-row', onclick: () => { box.close(); run(() => replace(one.handle))(); } }, mark(one.type), h('span', {}, marked(one.title), ' ', h('span', { class: 'mono soft' }, one.handle))));
  const look = debounce(150, async () => {
    const asked = input.value;
    let found;
    try {
      const { items } = await get('/api/search', { query: asked || row.title, kind: 'observation', project: row.project?.id, limit: 8 });
      found = items.filter((one) => one.id !== row.id).map(pick);
    } catch (error) {
      found = h('li', { class: 'meta' }, trouble(error));
    }
    if (asked === input.value) fill(list, found);
  });
  const input = h('input', { type: 'text', 'aria-label': 'Find the memory that replaces it', placeholder: 'Words or an id', autofocus: true, oninput: look });
  const box = dialog(`Replace ${row.handle} with`, h('div', { class: 'field' }, input), list, h('div', { class: 'actions' }, h('button', { type: 'button', onclick: () => box.close() }, 'Cancel')));
  look.now();
}
