// The body of an open card: all fields of the row, and why a search found it.

import { h } from './dom.js';
import { brief, isAlike, marked, restAfter, titleOf, wordsOf } from './format.js';

/** The texts that follow the title, the most telling first. */
const saidOf = (row) => ({ observation: [row.subtitle, row.narrative, row.facts?.[0]], summary: [row.completed, row.learned, row.investigated, row.notes, row.nextSteps && `Next: ${row.nextSteps}`], account: row.done }[row.kind] ?? []).filter(Boolean);

/** The first text after the title that says more than the title. */
export const ledeOf = (row) => saidOf(row).filter((text) => !isAlike(text, titleOf(row))).map((text) => restAfter(text, titleOf(row))).find(Boolean);

/** What a summary says beyond what was asked: its title where the prompt stands above it. */
export const gistOf = (row) => (row.kind === 'summary' ? saidOf(row)[0] : null);

const sentencesOf = (text) => String(text ?? '').split(/(?<=[.!?…])\s+|\n+/).map((one) => one.trim()).filter(Boolean);

/** Of a search result, the sentence that holds most of the matched words. */
export function snippetOf(row) {
  const words = row.why?.matched ?? [];
  if (!words.length) return null;
  const texts = [row.subtitle, row.narrative, ...(row.facts ?? []), row.completed, row.learned, row.text, ...(row.done ?? [])].flatMap(sentencesOf);
  const lower = words.map((word) => word.toLowerCase());
  const hits = (text) => lower.filter((word) => text.toLowerCase().includes(word)).length;
  const best = texts.filter((text) => !isAlike(text, titleOf(row))).reduce((found, text) => (hits(text) > hits(found ?? '') ? text : found), null);
  return best && brief(best, SNIPPET_CHARS);
}
const SNIPPET_CHARS = 240;

/** One sentence that says why a search found a row. */
export function reasonOf({ why: parts, asked = '', score }) {
  if (!parts || score == null) return null;
  const said = [];
  if (parts.matched?.length) said.push(`Matches ${wordsOf(parts.matched, asked).slice(0, 4).map((word) => `“${word}”`).join(', ')}`);
  if (parts.vectors >= 0.1) said.push(said.length ? 'close in meaning' : 'Close in meaning');
  if (parts.names >= 0.05) said.push('a name or path as typed');
  if (parts.time >= 0.05) said.push('from the time that you named');
  if (parts.recency >= 0.1) said.push('recent');
  if (!said.length) return 'Among the latest.';
  return `${said.join(', ')}.`;
}

/** Everything that a row says. */
export function detailsOf(row) {
  if (row.kind === 'observation') return observation(row);
  if (row.kind === 'account') return accountOf(row);
  return row.kind === 'summary' ? summary(row) : said(row);
}

function observation(row) {
  const matched = row.why?.matched;
  return [
    row.subtitle && !isAlike(row.subtitle, row.title) && h('p', { class: 'soft', dir: 'auto' }, marked(row.subtitle, matched)),
    row.narrative && row.narrative !== row.subtitle && restAfter(row.narrative, row.title) && h('p', { class: 'prose', dir: 'auto' }, marked(row.narrative, matched)),
    row.facts?.length > 0 && h('ul', { class: 'facts' }, row.facts.map((fact) => h('li', { dir: 'auto' }, marked(fact, matched)))),
    chips('Concepts', row.concepts, 'concept'),
    chips('Modified', row.filesModified, 'file'),
    chips('Read', row.filesRead, 'file'),
  ];
}

/** The account of a whole session. */
export function accountOf(row) {
  const parts = [['Done', row.done], ['Learned', row.learned], ['Decided', row.decided], ['Checked', row.checked], ['Left open', row.open]];
  const list = (texts) => h('dd', {}, h('ul', { class: 'facts' }, texts.map((text) => h('li', { dir: 'auto' }, marked(text, row.why?.matched)))));
  return [
    h('dl', { class: 'fields' }, parts.filter(([, texts]) => texts?.length).map(([name, texts]) => [h('dt', {}, name), list(texts)])),
    chips('Edited', row.filesEdited, 'file'),
  ];
}

export function summary(row) {
  const fields = [
    ['Investigated', row.investigated], ['Learned', row.learned], ['Completed', row.completed],
    ['Next steps', row.nextSteps], ['Notes', row.notes],
  ];
  const pair = ([name, text]) => [h('dt', {}, name), h('dd', { dir: 'auto' }, marked(text, row.why?.matched))];
  return [
    h('dl', { class: 'fields' }, fields.filter(([, text]) => text).map(pair)),
    chips('Edited', row.filesEdited, 'file'),
    chips('Read', row.filesRead, 'file'),
  ];
}

/** The text of a prompt or a reply; a short one is already the title. */
function said(row) {
  if (row.private) return h('p', { class: 'soft' }, 'The text of a private prompt is not stored.');
  return titleOf(row) !== row.text && h('p', { class: 'prose', dir: 'auto' }, marked(row.text, row.why?.matched));
}

function chips(name, list, filter) {
  if (!list?.length) return null;
  const look = filter === 'file' ? 'chip mono' : 'chip';
  const chip = (text) => h('a', { class: look, href: `#/search?${new URLSearchParams({ [filter]: text })}` }, h('bdi', {}, text));
  return h('p', { class: 'chips' }, h('span', { class: 'chips-name' }, name), h('span', { class: 'chip-list' }, list.map(chip)));
}

const PARTS = [
  ['words', 'Words', 'How well its words fit'],
  ['vectors', 'Meaning', 'How near its meaning is'],
  ['coverage', 'Coverage', 'How much of the question is in it'],
  ['names', 'Names', 'Names and paths just as they were typed'],
  ['neighbours', 'Neighbours', 'How well what stands around it fits'],
  ['recency', 'Recency', 'How new it is'],
  ['time', 'Time', 'Made when the question says'],
  ['judged', 'Judged', 'It replaces another, or was replaced'],
];

/** The parts of a score that counted, as bars and figures: together they are the score. */
export function why({ why: parts, score, asked = '' }, isOpen) {
  const counted = PARTS.filter(([key]) => Math.abs(parts[key] ?? 0) >= 0.005);
  const most = Math.max(...counted.map(([key]) => Math.abs(parts[key])), 0.01);
  const line = ([key, name, about]) => {
    const part = parts[key];
    const bar = h('span', { class: part < 0 ? 'less' : null, style: { inlineSize: `${(Math.abs(part) / most) * 100}%` } });
    return h('div', { class: 'bar-row', title: about }, h('span', {}, name), h('span', { class: 'bar' }, bar), h('span', {}, part.toFixed(2)));
  };
  return h(
    'details',
    { class: 'why', open: isOpen },
    h('summary', {}, 'Why it is here', h('span', { class: 'score', title: 'How well it fits' }, score.toFixed(2))),
    counted.length ? counted.map(line) : h('p', { class: 'meta' }, 'It is among the latest.'),
    parts.matched?.length > 0 && h('p', { class: 'meta' }, `matched: ${wordsOf(parts.matched, asked).join(', ')}`),
  );
}
