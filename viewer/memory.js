// One memory alone, at an address of its own, with its source and use below it.

import { get, Refused } from './api.js';
import { failure, fill, h, loading, state } from './dom.js';
import { MemList } from './list.js';
import { provenanceOf } from './provenance.js';
import { isRow } from './rowOrder.js';
import { apiOf, rowOf } from './format.js';
import { nameOf } from './texts.js';

export function memory(world, { rest: handle }) {
  const wanted = rowOf(handle ?? '');
  const name = wanted && wanted.kind !== 'observation' ? nameOf(wanted.kind) : 'Memory';
  const title = h('h1', {}, `${name} ${handle}`);
  if (!wanted) return [title, state('No such memory', 'Ids are of the form #12, S3, P7, M9 or A4.')];
  const story = h('div', { class: 'story', hidden: true });
  const list = MemList.of({
    card: { open: true, dated: true },
    isSingle: true,
    // Where it is alone, every place is its own.
    compare: () => 0,
    load: async (_, { signal }) => {
      const row = await get(apiOf(wanted), {}, signal).catch((error) => {
        if (error instanceof Refused && error.status === 404) return null;
        throw error;
      });
      if (row) tell(row);
      return { items: row ? [row] : [], next: null };
    },
    empty: () => state(`There is no ${handle}`, 'It was forgotten, or there never was one.', h('a', { href: '#/trash' }, 'Look in the trash')),
  });
  const tell = async (row) => {
    if (row.kind !== 'observation') return;
    story.hidden = false;
    if (!story.firstChild) fill(story, loading());
    await provenanceOf(row, 'h2').then((content) => fill(story, content), (error) => fill(story, failure(error, () => tell(row))));
  };
  world.listen(({ name: event, data }) => {
    const { kind, id } = data ?? {};
    if (kind !== wanted.kind || id !== wanted.id) return;
    if (event === 'removed') {
      list.drop(kind, id);
      story.hidden = true;
    } else if (isRow(event)) {
      list.add(data);
      tell(data);
    }
  });
  return [title, list, story];
}
