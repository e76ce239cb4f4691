// One memory alone, at an address of its own.

import { get } from './api.js';
import { h, state } from './dom.js';
import { MemList } from './list.js';
import { isRow } from './rowOrder.js';
import { apiOf, rowOf } from './format.js';

export function memory(world, { rest: handle }) {
  const wanted = rowOf(handle ?? '');
  const title = h('h1', {}, `Memory ${handle}`);
  if (!wanted) return [title, state('No such memory', 'Ids are of the form #12, S3, P7, M9 or A4.')];
  const list = MemList.of({
    card: { open: true },
    // Where it is alone, every place is its own.
    compare: () => 0,
    load: async (_, { signal }) => ({ items: [await get(apiOf(wanted), {}, signal)], next: null }),
    empty: () => state('This memory was forgotten', `\`claude-mem forget --undo '${handle}'\` brings it back.`),
  });
  world.listen(({ name, data }) => {
    const { kind, id } = data ?? {};
    if (kind !== wanted.kind || id !== wanted.id) return;
    if (name === 'removed') list.drop(kind, id);
    else if (isRow(name)) list.add(data);
  });
  return [title, list];
}
