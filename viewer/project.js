// One project: its rules, its open items, its files and its decisions.

import { get, post } from './api.js';
import { fill, h, state, trouble } from './dom.js';
import { ago, dateTime } from './dates.js';
import { count, hrefOf, mark, marked, plural } from './format.js';
import { toast, undoToast } from './toasts.js';

/** Rules are listed whether or not they fit into the start of a session: the largest budget. */
const TOKENS = 100_000;
const ITEMS = 100;
/** Open items that are shown before the rest is asked for. */
const ITEMS_SHOWN = 6;
const DECISIONS = 200;
/** Other projects that are named. */
const OTHERS = 8;
const FOLDERS = 12;

export async function project(world) {
  await world.known;
  if (!world.projects.length) world.projects = (await get('/api/projects')).items;
  const one = world.projects.find((each) => String(each.id) === world.project) ?? world.projects[0];
  if (!one) return [h('h1', {}, 'Project'), state('No project yet', 'Start a session in a project, then come back.')];
  const [context, files, decisions] = await Promise.all([get('/api/context/preview', { project: one.id, tokens: TOKENS }), get(`/api/projects/${one.id}/files`), get('/api/observations', { type: 'decision', project: one.id, limit: DECISIONS })]);
  const items = h('div', {});
  const load = async () => {
    const isOpen = items.querySelector('details')?.open;
    fill(items, openItems(await get('/api/open-items', { project: one.id, limit: ITEMS }), load));
    if (isOpen) items.querySelector('details')?.setAttribute('open', '');
  };
  await load();
  world.listen(({ name }) => (name === 'account' || name === 'resumed') && load().catch(() => { /* The stream says when the worker is gone. */ }));
  const rules = context.items.filter((item) => item.reason === 'a standing rule' || item.reason === 'a preference');
  return {
    title: one.name,
    content: [
      h('h1', {}, one.name),
      h('p', { class: 'note' }, `${plural(one.observations, 'memory', 'memories')} from ${plural(one.sessions, 'session')}; last active ${ago(one.lastActiveAt)}. `, h('a', { href: `#/context?project=${one.id}` }, 'What the next session receives'), ' · ', h('a', { href: `#/review?project=${one.id}` }, 'Review'), ' · ', h('a', { href: `#/sessions?project=${one.id}` }, 'Sessions')),
      !world.project && othersOf(world.projects, one),
      h('h2', {}, 'Rules'),
      rules.length ? h('ul', { class: 'rows sheet' }, rules.map(ruleOf)) : h('p', { class: 'note' }, 'No standing rules. Tell the agent a lasting rule, or add a memory of the type Decision.'),
      h('h2', {}, 'Open items'),
      items,
      h('h2', {}, 'Files that memories are about'),
      fileMap(files.items),
      h('h2', {}, 'Decisions over time'),
      decisionsOf(decisions),
    ],
  };
}

/** Without a choice the project that was active last is shown. */
const othersOf = (projects, shown) => projects.length > 1 && h('p', { class: 'note' }, 'The most recently active project. Others: ', projects.filter((one) => one !== shown).slice(0, OTHERS).map((one, at) => [at > 0 && ' · ', h('a', { href: `#/project?project=${one.id}` }, h('bdi', {}, one.name))]));

const ruleOf = (item) => h('li', { class: 'row' }, h('a', { class: 'with-mark plain', href: hrefOf(item.handle) }, mark(item.type), h('span', { dir: 'auto' }, marked(item.title), ' ', h('span', { class: 'mono soft' }, item.handle))), h('span', { class: 'when' }, item.reason === 'a preference' ? 'all projects' : ''));

function openItems({ items, hasMore }, load) {
  if (!items.length) return h('p', { class: 'note' }, 'No session left anything open.');
  const close = (item) => async () => {
    try {
      await post(`/api/open-items/${item.id}/close`, { reason: 'closed in the viewer' });
      await load();
      undoToast('Closed the item', '', async () => {
        await post(`/api/open-items/${item.id}/reopen`);
        await load();
      }, { isShort: true });
      document.getElementById('main').focus({ preventScroll: true });
    } catch (error) {
      toast(trouble(error));
    }
  };
  const line = (item) => h(
    'li',
    { class: 'row open-item' },
    h('span', { dir: 'auto' }, marked(item.text)),
    h('span', { class: 'when' }, ago(item.openedAt)),
    h('span', { class: 'meta' }, item.branch && h('span', {}, 'branch ', h('bdi', {}, item.branch)), h('a', { href: `#/sessions/${item.session}` }, 'Open session')),
    h('span', { class: 'actions' }, h('button', { type: 'button', class: 'small', onclick: close(item) }, 'Close')),
  );
  const [shown, rest] = [items.slice(0, ITEMS_SHOWN), items.slice(ITEMS_SHOWN)];
  return [
    h('ul', { class: 'rows sheet' }, shown.map(line)),
    rest.length > 0 && h('details', { class: 'more' }, h('summary', {}, `${count(rest.length)}${hasMore ? '+' : ''} more`), h('ul', { class: 'rows sheet' }, rest.map(line))),
  ];
}

/** Folders as a map, those with most memories first; the darker a file, the more memories are about it. */
function fileMap(files) {
  if (!files.length) return h('p', { class: 'note' }, 'No memory names a file.');
  const folders = new Map();
  for (const file of files) {
    const folder = file.path.includes('/') ? file.path.slice(0, file.path.lastIndexOf('/')) : '.';
    const known = folders.get(folder) ?? { folder, memories: 0, files: [] };
    folders.set(folder, { ...known, memories: known.memories + file.memories, files: [...known.files, file] });
  }
  const sorted = [...folders.values()].sort((a, b) => b.memories - a.memories).slice(0, FOLDERS);
  const most = Math.max(...files.map((file) => file.memories), 1);
  const search = (path) => `#/search?${new URLSearchParams({ file: path })}`;
  const fileOf = (file) => h('a', { class: 'map-file mono', href: search(file.path), title: `${file.path}: ${plural(file.memories, 'memory', 'memories')}, last ${dateTime(file.lastAt)}`, style: { background: `color-mix(in srgb, var(--accent) ${Math.round(8 + (30 * file.memories) / most)}%, transparent)` } }, file.path.split('/').pop(), ' ', h('span', { class: 'soft' }, count(file.memories)));
  const folderOf = (one) => h('div', { class: 'map-folder' }, h('a', { class: 'map-name mono', href: search(`${one.folder}/`) }, one.folder === '.' ? 'project root' : one.folder), h('div', { class: 'map-files' }, one.files.slice(0, 10).map(fileOf), one.files.length > 10 && h('span', { class: 'soft' }, `+${one.files.length - 10}`)));
  return h('div', { class: 'map' }, sorted.map(folderOf));
}

function decisionsOf({ items, hasMore }) {
  if (!items.length) return h('p', { class: 'note' }, 'No decisions yet.');
  const titles = new Map(items.map((row) => [row.id, row]));
  const line = (row) => h(
    'li',
    { class: row.replacedBy || row.wrong ? 'row replaced' : 'row' },
    h('span', {}, h('a', { class: 'plain card-toggle-like', href: hrefOf(row.handle), dir: 'auto' }, marked(row.title)), ' ', h('span', { class: 'mono soft' }, row.handle)),
    h('time', { class: 'when', datetime: new Date(row.createdAt).toISOString() }, ago(row.createdAt)),
    row.replacedBy && h('p', { class: 'meta' }, 'Replaced by ', h('a', { href: hrefOf(`#${row.replacedBy}`), dir: 'auto' }, titles.has(row.replacedBy) ? marked(titles.get(row.replacedBy).title) : `#${row.replacedBy}`), ` #${row.replacedBy}`),
  );
  return [h('ol', { class: 'rows sheet' }, items.map(line)), hasMore && h('p', { class: 'note' }, `The newest ${DECISIONS}.`)];
}
