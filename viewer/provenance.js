// Where a memory comes from, how it is used, and how it changed: in a panel beside the view, or on the
// memory's own page.

import { get } from './api.js';
import { changesOf } from './diff.js';
import { failure, fill, h, loading } from './dom.js';
import { dateTime } from './dates.js';
import { brief, hrefOf, mark, marked, plural, titleOf } from './format.js';
import { PLACES } from './texts.js';

/** Entries of the ledger that are listed. */
const ENTRIES = 20;
const SIGNALS = { injected: 'Shown', fetched: 'Fetched', cited: 'Cited', useful: 'Marked useful', useless: 'Marked not useful', wrong: 'Marked wrong' };

/** The sections about one observation; `level` is the element of their headings. */
export async function provenanceOf(row, level = 'h3') {
  const [story, ledger] = await Promise.all([get(`/api/observations/${row.id}/provenance`), get('/api/ledger', { row: row.handle, limit: ENTRIES })]);
  const parts = [sourcesOf(story.sources, row), replacementsOf(story), usageOf(story.usage, ledger), versionsOf(story.versions, row), nearOf(story.near)];
  return parts.flat().filter(Boolean).map(({ title, content }) => h('section', {}, h(level, {}, title), content));
}

/** A part of the story. */
const section = (title, ...content) => ({ title, content });
const rowLink = (one) => h('li', {}, h('a', { class: 'with-mark plain', href: hrefOf(one.handle) }, mark(one.type), h('span', {}, marked(one.title), ' ', h('span', { class: 'mono soft' }, one.handle))));

function sourcesOf(sources, row) {
  if (!sources.length) return section('Source', h('p', { class: 'soft' }, row.origin === 'manual' ? 'Added by hand.' : 'The source is not stored: it was imported, or its turn was forgotten.'));
  const quote = (quoted) => {
    const [one] = quoted;
    return h(
      'figure',
      { class: 'quote' },
      h('blockquote', { dir: 'auto' }, quoted.map(({ text }) => h('p', {}, marked(brief(text, 700))))),
      h(
        'figcaption',
        { class: 'meta' },
        h('span', { class: 'type' }, one.source.charAt(0).toUpperCase() + one.source.slice(1)),
        h('time', { datetime: new Date(one.at).toISOString() }, dateTime(one.at)),
        one.session && h('a', { href: `#/sessions/${one.session.id}${one.turn ? `?turn=${one.turn}` : ''}` }, one.turn ? `Open session, turn ${one.turn}` : 'Open session'),
      ),
    );
  };
  const texts = textsOf(sources);
  return section(texts.length === 1 ? 'Source' : 'Sources', texts.map(quote));
}

/** Passages of one text stand together. */
function textsOf(sources) {
  const texts = new Map();
  for (const one of sources) {
    const key = JSON.stringify([one.source, one.session?.id, one.turn, one.at]);
    texts.set(key, [...(texts.get(key) ?? []), one]);
  }
  return [...texts.values()];
}

function replacementsOf({ replaces, replacedBy }) {
  return [
    replacedBy && section('Replaced by', h('ul', { class: 'near' }, rowLink(replacedBy))),
    replaces.length > 0 && section('Replaces', h('ul', { class: 'near' }, replaces.map(rowLink))),
  ];
}

const timesOf = (done, times) => (times ? `${done} ${plural(times, 'time')}` : `never ${done.toLowerCase()}`);

function usageOf(usage, { items, hasMore }) {
  const line = (entry) => h(
    'li',
    {},
    h('span', {}, h('strong', {}, SIGNALS[entry.signal] ?? entry.signal), ` ${(PLACES[entry.place] ?? entry.place).toLowerCase()}`),
    h('span', { class: 'meta' }, h('time', { datetime: new Date(entry.at).toISOString() }, dateTime(entry.at)), entry.reason && h('span', {}, entry.reason), entry.session && h('a', { href: `#/sessions/${encodeURIComponent(`client:${entry.session}`)}` }, 'Open session')),
  );
  const total = usage.shown + usage.fetched + usage.cited;
  return section(
    'Use',
    h('p', {}, total ? `${timesOf('Shown', usage.shown)}, ${timesOf('fetched', usage.fetched)}, ${timesOf('cited', usage.cited)}.` : 'No session has received it yet.'),
    items.length > 0 && h('ul', { class: 'ledger' }, items.map(line)),
    hasMore && h('p', { class: 'soft' }, `The last ${ENTRIES} entries.`),
  );
}

function versionsOf(versions, row) {
  if (!versions.length) return row.edited ? section('Edits', h('p', { class: 'soft' }, 'Edited; earlier versions are kept for 30 days.')) : null;
  const line = (one, at) => h('li', {}, h('time', { class: 'meta', datetime: new Date(one.at).toISOString() }, dateTime(one.at)), changesOf(one, at === 0 ? row : versions[at - 1]));
  return section('Edits', h('ol', { class: 'ledger' }, versions.map(line)));
}

const nearOf = (near) => near.length > 0 && section('Similar memories', h('ul', { class: 'near' }, near.map(rowLink)));

let closePanel = () => {};

/** Closes the panel. False if none is open. */
export function closeOpenPanel() {
  const isOpen = document.querySelector('.panel') !== null;
  closePanel();
  return isOpen;
}

/** Opens the panel for a row; the focus goes into it and back. */
export function openPanel(row) {
  closePanel();
  const before = document.activeElement;
  const body = h('div', { class: 'panel-body' }, loading());
  const close = (isFocused = true) => {
    panel.remove();
    removeEventListener('hashchange', left);
    if (isFocused && before?.isConnected) before.focus({ preventScroll: true });
    closePanel = () => {};
  };
  const left = () => close(false);
  const panel = h(
    'aside',
    { class: 'panel', 'aria-label': `History of ${row.handle}`, tabindex: '-1', onkeydown: (event) => event.key === 'Escape' && (event.stopPropagation(), close()) },
    h('div', { class: 'panel-head' }, h('h2', { dir: 'auto' }, marked(titleOf(row))), h('button', { type: 'button', class: 'square', 'aria-label': 'Close', onclick: () => close() }, '×')),
    h('p', { class: 'meta' }, h('a', { class: 'mono', href: hrefOf(row.handle) }, row.handle), h('span', {}, dateTime(row.createdAt))),
    body,
  );
  const load = () => provenanceOf(row).then((content) => fill(body, content), (error) => fill(body, failure(error, load)));
  closePanel = close;
  document.querySelector('main').after(panel);
  addEventListener('hashchange', left);
  panel.focus({ preventScroll: true });
  load();
}
