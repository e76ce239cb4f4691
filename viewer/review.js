// Memories that need a decision: one place to keep, replace or forget them.

import { get, patch, post, remove } from './api.js';
import { debounce, dialog, fill, h, state, trouble } from './dom.js';
import { ago } from './dates.js';
import { apiOf, brief, hrefOf, mark, marked, plural, titleOf } from './format.js';
import { openPanel } from './provenance.js';
import { forgetAll } from './selection.js';
import { TEXTS } from './texts.js';
import { toast, undoToast } from './toasts.js';

const GROUPS = {
  suggested: ['Suggested preferences', 'Rules that may apply to all your projects.'],
  replaced: ['Replaced memories', 'A newer memory says otherwise. Sessions receive only the newer one.'],
  duplicate: ['Near-duplicates', 'Another memory says nearly the same.'],
  missing: ['Files that are gone', 'Every file that these memories edited is missing from the project’s directory.'],
  unused: ['Not used for 90 days', 'No session has fetched or cited them in 90 days.'],
};
/** Memories that were kept in this browser are not listed again. */
const KEPT = 'claude-mem-reviewed';
const kept = () => new Set(JSON.parse(localStorage.getItem(KEPT) ?? '[]'));
const keep = (key) => localStorage.setItem(KEPT, JSON.stringify([...kept(), key].slice(-2_000)));
const unkeep = (key) => localStorage.setItem(KEPT, JSON.stringify([...kept()].filter((one) => one !== key)));

export async function review(world) {
  const box = h('div', {});
  const load = async () => {
    const { groups } = await get('/api/review', { project: world.project });
    const done = kept();
    const left = groups.map((group) => ({ ...group, items: group.items.filter(({ row }) => !done.has(`${group.name}-${row.handle}`)) }));
    const had = box.contains(document.activeElement);
    const open = left.filter((group) => group.items.length);
    fill(box, open.length ? [contents(open), open.map((group) => groupOf(group, load))] : state('Nothing to review', 'No contradictions, duplicates, unused memories or suggestions.'));
    if (had && document.activeElement === document.body) (box.querySelector('.review-item button, a') ?? document.getElementById('main')).focus({ preventScroll: true });
  };
  await load();
  const soon = debounce(800, () => box.isConnected && load().catch(() => { /* The stream says when the worker is gone. */ }));
  world.listen(({ name }) => ['observation', 'removed', 'missed', 'resumed'].includes(name) && soon());
  return [h('div', { class: 'bar-top' }, h('h1', {}, 'Review'), h('a', { href: '#/trash' }, 'Trash')), box];
}

const contents = (groups) => h('p', { class: 'note' }, groups.map((group, at) => [at > 0 && ' · ', h('a', { href: `#review-${group.name}`}, `${GROUPS[group.name][0]} (${group.items.length}${group.hasMore ? '+' : ''})`)]));

function groupOf({ name, items, hasMore }, load) {
  const [title, about] = GROUPS[name];
  const forget = async () => {
    try {
      if (await forgetAll(items.map(({ row }) => row), `Forget these ${items.length} memories?`)) await load();
    } catch (error) {
      toast(trouble(error));
    }
  };
  return h(
    'section',
    { class: 'review-group', id: `review-${name}`, 'aria-label': title },
    h('div', { class: 'bar-top' }, h('div', {}, h('h2', {}, `${title} `, h('span', { class: 'soft' }, `${items.length}${hasMore ? '+' : ''}`)), h('p', { class: 'soft' }, about)), (name === 'unused' || name === 'missing') && h('button', { type: 'button', class: 'small danger', onclick: forget }, `Forget all ${items.length}`)),
    h('ul', { class: 'rows sheet' }, items.map((item) => itemOf(name, item, load))),
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
  const key = `${group}-${row.handle}`;
  const name = `“${brief(titleOf(row), 48)}”`;
  const button = (act, text, does, look = '') => h('button', { type: 'button', class: `small ${look}`, 'data-act': act, onclick: run(does) }, text);
  const keepIt = async () => {
    if (group === 'replaced') {
      await post(`/api/observations/${row.id}/replace`, { by: null });
      undoToast(`Kept both: ${name}`, '', run(() => post(`/api/observations/${row.id}/replace`, { by: other.handle })), { isShort: true });
    } else if (group === 'suggested') {
      await patch(apiOf(row), { level: 'user' });
      undoToast(`Applied to all projects: ${name}`, '', run(() => patch(apiOf(row), { level: 'proposed' })), { isShort: true });
    } else {
      keep(key);
      undoToast(`Kept: ${name}`, '', run(async () => unkeep(key)), { isShort: true });
    }
  };
  const forget = async () => {
    await remove(apiOf(row));
    undoToast(`Forgot ${name}`, `Later: \`claude-mem forget --undo '${row.handle}'\``, run(() => post(`/api/memory/observation/${row.id}/restore`)));
  };
  const replace = async (by) => {
    await post(`/api/observations/${row.id}/replace`, { by });
    undoToast(`Replaced ${name} by ${by}`, '', run(() => post(`/api/observations/${row.id}/replace`, { by: row.replacedBy ? `#${row.replacedBy}` : null })), { isShort: true });
  };
  return h(
    'li',
    { class: 'row review-item' },
    h('span', { class: 'with-mark' }, mark(row.type), h('span', {}, h('a', { class: 'plain', href: hrefOf(row.handle), dir: 'auto' }, marked(row.title)), ' ', h('span', { class: 'mono soft' }, row.handle))),
    h('span', { class: 'when' }, ago(row.createdAt)),
    other && h('p', { class: 'meta' }, group === 'replaced' ? 'Replaced by ' : 'Says nearly the same as ', h('a', { href: hrefOf(other.handle), dir: 'auto' }, marked(other.title)), ` ${other.handle}, ${ago(other.createdAt)}`),
    files.length > 0 && h('p', { class: 'meta mono' }, files.slice(0, 3).join(', ')),
    h(
      'span',
      { class: 'actions' },
      button('keep', group === 'replaced' ? 'Keep both' : group === 'suggested' ? TEXTS.everyProject : 'Keep', keepIt),
      group === 'duplicate' && other && button('merge', `Replace with ${other.handle}`, () => replace(other.handle)),
      h('button', { type: 'button', class: 'small', 'data-act': 'replace', onclick: () => chooseReplacement(row, run, replace) }, 'Replace with…'),
      h('button', { type: 'button', class: 'small', 'data-act': 'history', onclick: () => openPanel(row) }, 'Source and use'),
      button('forget', 'Forget', forget, 'danger'),
    ),
  );
}

/** Asks for the memory that takes the place of this one, by its words or its id. */
function chooseReplacement(row, run, replace) {
  const list = h('ul', { class: 'near' });
  const pick = (one) => h('li', {}, h('button', { type: 'button', class: 'pick-row', onclick: () => { box.close(); run(() => replace(one.handle))(); } }, mark(one.type), h('span', {}, marked(one.title), ' ', h('span', { class: 'mono soft' }, one.handle))));
  const look = debounce(150, async () => {
    const asked = input.value;
    const { items } = await get('/api/search', { query: asked || row.title, kind: 'observation', project: row.project?.id, limit: 8 }).catch(() => ({ items: [] }));
    if (asked === input.value) fill(list, items.filter((one) => one.id !== row.id).map(pick));
  });
  const input = h('input', { type: 'search', 'aria-label': 'Find the memory that replaces it', placeholder: 'Words or an id', autofocus: true, oninput: look });
  const box = dialog(`Replace ${row.handle} with`, h('div', { class: 'field' }, input), list, h('div', { class: 'actions' }, h('button', { type: 'button', onclick: () => box.close() }, 'Cancel')));
  look.now();
}
