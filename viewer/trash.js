// Forgotten rows: they can be restored for 30 days.

import { get, post } from './api.js';
import { h, redraw, state, trouble } from './dom.js';
import { ago } from './dates.js';
import { brief, mark, marked } from './format.js';
import { nameOf } from './texts.js';
import { toast } from './toasts.js';

const PAGE = 50;

export async function trash(world) {
  const box = h('div', {});
  let limit = PAGE;
  const load = async () => {
    const { items, hasMore } = await get('/api/trash', { limit });
    const more = hasMore && h('button', { type: 'button', onclick: () => { limit += PAGE; load(); } }, 'More');
    redraw(box, items.length ? [h('ul', { class: 'rows sheet' }, items.map(line)), more] : state('The trash is empty', 'Forgotten memories can be restored here.'));
  };
  const restore = (row) => async () => {
    try {
      await post(`/api/memory/${row.kind}/${row.id}/restore`);
      toast(`Restored ${row.handle}.`);
      await load();
    } catch (error) {
      toast(trouble(error));
    }
  };
  const line = (row) => h(
    'li',
    { class: 'row open-item', 'data-row': row.handle },
    h('span', { class: 'with-mark' }, mark(row.type ?? row.kind), h('span', { dir: 'auto' }, marked(brief(row.title, 160) || '(no title)'), ' ', h('span', { class: 'mono soft' }, row.handle))),
    h('span', { class: 'when' }, ago(row.forgottenAt)),
    h('span', { class: 'meta' }, nameOf(row.type ?? row.kind), row.project && h('bdi', { class: 'project-name' }, row.project.name)),
    h('span', { class: 'actions' }, h('button', { type: 'button', class: 'small', onclick: restore(row) }, 'Restore')),
  );
  await load();
  world.listen(({ name }) => (name === 'removed' || name === 'resumed') && load().catch(() => { /* The stream says when the worker is gone. */ }));
  const about = h('p', { class: 'note' }, 'Forgotten memories are deleted for good after 30 days.');
  return [h('p', { class: 'back' }, h('a', { href: '#/review' }, '← Review')), h('h1', {}, 'Trash'), about, box];
}
