// Search as you type: memories first, then summaries, prompts and replies; with filters and reasons.

import { get } from './api.js';
import { debounce, fill, h, state } from './dom.js';
import { MemList } from './list.js';
import { isRow } from './rowOrder.js';
import { plural } from './format.js';
import { exportButton } from './exportRows.js';
import { filtersOf, FILTERS, paramsOf } from './searchFilters.js';

const PAGE = 30;
const HOW = {
  otherProjects: 'No match in this project: these are from others.',
  otherProjectsBroader: 'No match in this project: these from others match a part of the query.',
  broader: 'Nothing matches the whole query: these match a part of it.',
  near: 'Nothing matches the words: these are the nearest in meaning.',
};
/** The kinds of the second list. */
const SAID = 'summary,prompt,message,account';

/** Whether a row is among the results by its meaning alone. */
const isByMeaning = ({ why }) => why?.vectors > 0 && !why.matched.length && !why.names;

const isElsewhere = (found) => found.scope.how.startsWith('otherProjects');

/** Whether the last word may go on. */
const isTyping = () => (document.activeElement?.type === 'search' ? 'true' : '');

export function search(world, { params }) {
  let now = params;
  const value = (name) => now.get(name) ?? '';
  const note = h('p', { class: 'note', role: 'status' });
  const title = h('h1', {});
  const filters = filtersOf(world, value, (kept) => world.go('search', value('q') ? [['q', value('q')], ...kept] : kept));
  const parts = [part('observation', 'Memories'), part(SAID, 'Summaries, prompts and replies')];
  const [memories, said] = parts;

  /** One list of results with its heading and its count. */
  function part(kinds, name) {
    const heading = h('h2', { class: 'part', hidden: true });
    const list = MemList.of({
      empty: () => h('span', {}),
      load: async (before, { signal }) => {
        const { kind, type, ...chosen } = paramsOf(value);
        const wanted = kind || (type || chosen.concept ? 'observation' : '');
        if (wanted && (wanted === 'observation') !== (kinds === 'observation')) return { items: [], next: null, count: 0 };
        // Rows that were forgotten or marked wrong meanwhile are not counted by the worker either.
        const offset = before ? list.count((row) => value('wrong') || !row.wrong) : 0;
        const asked = { query: value('q'), project: world.project, allProjects: world.project ? '' : 'true', kind: wanted || kinds, type, ...chosen };
        const request = get('/api/search', { ...asked, limit: PAGE, offset, explain: 'true', typing: isTyping() }, signal);
        if (!before) one.first = request;
        const found = await request;
        if (isElsewhere(found) && (await isOwn(one))) return { items: [], next: null };
        // A type in the query selects memories, whichever kinds were asked for: they are in the other list.
        const own = found.items.filter((row) => kinds.split(',').includes(row.kind));
        const items = own.map((row) => ({ ...row, asked: asked.query }));
        return { items, scope: found.scope, next: found.hasMore && own.length ? 'more' : null };
      },
      loaded: (page, isFirst) => {
        one.count = (isFirst ? 0 : one.count) + page.items.length;
        one.hasMore = page.next != null;
        if (isFirst) one.scope = page.scope;
        fill(heading, `${name} `, h('span', { class: 'soft' }, `${one.count}${one.hasMore ? '+' : ''}`));
        heading.hidden = one.count === 0;
        say();
      },
    });
    const one = { heading, list, count: 0, hasMore: false, scope: null };
    return one;
  }

  /** Whether the other part has results of the chosen project: then those of others are not shown. */
  async function isOwn(one) {
    const other = parts.find((each) => each !== one);
    const found = await other.first?.catch(() => null);
    return Boolean(found?.items.length) && !isElsewhere(found);
  }

  const none = h('div', { hidden: true });
  const say = debounce(0, () => {
    const total = memories.count + said.count;
    const scope = memories.scope ?? said.scope;
    const backlog = scope?.unindexed ? `Not yet searchable by meaning: ${plural(scope.unindexed, 'text')}. Indexing continues.` : '';
    const isNear = total > 0 && parts.every(({ list }) => list.rows().every(isByMeaning));
    const how = total > 0 && HOW[isNear ? 'near' : memories.count ? memories.scope?.how : said.scope?.how];
    fill(note, [how, ...(scope?.notes ?? []), backlog].filter(Boolean).join(' '));
    none.hidden = total > 0;
    if (!none.hidden) fill(none, zero());
  });

  /** Suggestions for a search without results. */
  function zero() {
    const hasFilters = FILTERS.some(value);
    const tips = h(
      'ul',
      { class: 'facts' },
      hasFilters && h('li', {}, h('button', { type: 'button', class: 'inline', onclick: () => filters.clear() }, 'Clear the filters')),
      world.project && h('li', {}, 'Only this project and, without a match, others were searched. Choose “All projects” above to search all.'),
      value('q') && h('li', {}, 'Use fewer or other words: words and meaning are both searched.'),
      h('li', {}, 'Filters can be typed, too: ', h('code', {}, 'type:decision'), ' ', h('code', {}, 'file:login.rs'), ' ', h('code', {}, 'since:7d'), ' ', h('code', {}, '"exact words"')),
    );
    return [state(value('q') || hasFilters ? 'No results' : 'Type something to search for', tips)];
  }

  const shown = () => {
    fill(title, value('q') ? [h('span', { class: 'soft' }, 'Results for '), h('bdi', {}, value('q'))] : 'Search');
    filters.show();
  };
  shown();
  world.listen(({ name, data }) => {
    for (const { list } of parts) {
      if (name === 'removed') list.drop(data.kind, data.id);
      else if (name === 'missed') list.reload();
      else if (isRow(name)) list.add(data);
    }
  });
  const update = ({ params: next }) => {
    now = next;
    shown();
    scrollTo(0, 0);
    parts.forEach(({ list }) => list.reload());
  };
  const head = h('div', { class: 'bar-top' }, title, exportButton(() => parts.flatMap(({ list }) => list.rows()), 'search'));
  return { content: [head, filters.form, note, none, memories.heading, memories.list, said.heading, said.list], update };
}
