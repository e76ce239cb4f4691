// Numbers, marks and titles in the form in which they are shown.

import { h, s } from './dom.js';
import { nameOf } from './texts.js';

/** Made when it is first needed: the first one takes a while, and none is needed at first. */
function formatter(options) {
  let made;
  return (n) => (made ??= new Intl.NumberFormat('en', options)).format(n ?? 0);
}

export const count = formatter();
export const short = formatter({ notation: 'compact', maximumFractionDigits: 1 });
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export function bytes(n) {
  for (const [unit, size] of [['GB', 1e9], ['MB', 1e6], ['KB', 1e3]]) if (n >= size) return `${(n / size).toFixed(n >= 10 * size ? 0 : 1)} ${unit}`;
  return `${count(n)} B`;
}

/** A shape for each type, so that colour is never the only difference. */
const SHAPES = {
  decision: 'M8 2l6 6-6 6-6-6z',
  bugfix: 'M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3z',
  feature: 'M8 2.5 14 13H2z',
  refactor: 'M3 3h10v10H3z',
  discovery: 'M8 3a5 5 0 1 1 0 10A5 5 0 0 1 8 3zm0 2.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z',
  change: 'M8 3v10A5 5 0 0 1 8 3zm1.5.2a5 5 0 0 1 0 9.6z',
  summary: 'M3 4h10v1.8H3zm0 3.2h10V9H3zm0 3.2h6v1.8H3z',
  prompt: 'M5 3l5.5 5L5 13l-1.3-1.4L7.7 8l-4-3.6zM10 11h4v1.8h-4z',
  message: 'M3 3.5h10v7H8.2L5 13.2v-2.7H3z',
  pinned: 'M5.5 2h5v1.2l-.8.8v3l2.3 2v1.3H8.7V14H7.3v-3.7H4V9l2.3-2V4l-.8-.8z',
  wrong: 'M4.4 3.3 8 6.9l3.6-3.6 1.1 1.1L9.1 8l3.6 3.6-1.1 1.1L8 9.1l-3.6 3.6-1.1-1.1L6.9 8 3.3 4.4z',
  account: 'M3 2.5h10v11H3zm1.8 2.2v1.5h6.4V4.7zm0 3v1.5h6.4V7.7zm0 3v1.3h3.6v-1.3z',
};
const OTHER = 'M8 3.5 12.5 8 8 12.5 3.5 8zm0 2.3L5.8 8 8 10.2 10.2 8z';

export const mark = (type) => h('span', { class: 'mark', 'data-type': type, 'aria-hidden': 'true' }, s('svg', { viewBox: '0 0 16 16' }, s('path', { d: SHAPES[type] ?? OTHER, 'fill-rule': 'evenodd' })));

export const typeOf = (row) => (row.kind === 'observation' ? row.type : row.kind);
/** The client submits plans as prompts; they are not the person's words. */
const isPlan = (row) => row.kind === 'prompt' && row.origin === 'agent';
export const typeName = (row) => (isPlan(row) ? 'Plan' : nameOf(typeOf(row)));
/** Characters of a text that serve as its title. */
const TITLE_CHARS = 120;
export const titleOf = (row) => row.title || row.request || row.purpose || row.done?.[0] || (row.private ? 'A private prompt' : brief(firstLine(row.text), TITLE_CHARS)) || '(no title)';
const firstLine = (text) => withoutHeadingMark((text ?? '').trim().split('\n', 1)[0]);
/** A prompt that hands over a plan, and many a reply, begins with a heading. */
export const withoutHeadingMark = (text) => text.replace(/^#+\s+(?:Plan:\s*)?/, '');
/** Text of so many letters at most; no letter is cut in two. */
export function brief(text, chars) {
  const letters = Array.from(text);
  return letters.length > chars ? `${letters.slice(0, chars).join('').trimEnd()}…` : text;
}
const lettersOf = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
/** Characters by which texts with the same letters differ at most: the letters are not compared for nothing. */
const SIGNS_MAX = 12;
/** Whether two texts differ in their signs and spaces at most. */
export const isAlike = (one, other) => Math.abs(one.length - other.length) <= SIGNS_MAX && lettersOf(one) === lettersOf(other);
/** What a text says after these words, if it begins with them; else all of it. */
export function restAfter(text, words) {
  const [whole, begun] = [text.replace(/^User: “([^”]*)”$/, '$1'), words.replace(/…$/, '')];
  if (!whole.toLowerCase().startsWith(begun.toLowerCase())) return text;
  const tail = whole.slice(begun.length);
  const rest = tail.replace(/^[.\s]+/, '');
  const isSentence = begun === words && /^\s*[.!?…\n]/.test(tail);
  return rest && !isSentence ? `…${rest}` : rest;
}
export const apiOf = (row) => `/api/${{ observation: 'observations', summary: 'summaries', prompt: 'prompts', message: 'messages', account: 'accounts' }[row.kind]}/${row.id}`;
const LETTERS = { '#': 'observation', S: 'summary', P: 'prompt', M: 'message', A: 'account' };
/** The row that is called so: `#12`, `S3`, `P7`, `M9`, `A4`; or nothing. */
export function rowOf(handle) {
  const [, letter, id] = /^([#SPMA])(\d+)$/.exec(handle) ?? [];
  return letter ? { kind: LETTERS[letter], id: Number(id) } : null;
}
/** The address of one memory. */
export const hrefOf = (handle) => `#/memory/${encodeURIComponent(handle)}`;
export const baseName = (path) => path.split(/[\\/]/).filter(Boolean).pop() ?? path;

const literally = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** A pattern for a word and, if it is long enough, its forms: `retry` matches `retrying`, `id` does not match `idea`. */
const form = (word) => `${literally(word)}${word.length > 3 ? '\\p{L}{0,3}' : ''}`;

/** These words as the question has them. */
export function wordsOf(words, question) {
  const typed = question.split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
  const isForm = (one, other) => new RegExp(`^${form(one)}$`, 'iu').test(other);
  return [...new Set(words.map((one) => typed.find((word) => isForm(one, word) || isForm(word, one)) ?? one))];
}

/** Scripts that set no spaces between words: there a word is found wherever it stands. */
const UNSPACED = /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u;

/** A pattern that finds these words in a text. Whole words: `id` is found in `user_id`, not in `valid`. */
function finder(words) {
  const known = (words ?? []).filter((word) => word.length > 1 || UNSPACED.test(word));
  const whole = (word) => (UNSPACED.test(word) ? literally(word) : `(?<![\\p{L}\\p{N}])${form(word)}(?![\\p{L}\\p{N}])`);
  return known.length ? new RegExp(`(${known.map(whole).join('|')})`, 'iu') : null;
}

/** `code`, and **strong** text; stars of a path such as `src/**` are none. */
const SPANS = /`([^`\n]+)`|\*\*(?![\s/*])((?:`[^`\n]+`|[^`*\n])+)(?<![\s/])\*\*(?!\/)/;

/** Text as it was written, with `code`, **strong** text and the words that a search matched set apart. */
export function marked(text, words) {
  const found = finder(words);
  const plain = (part) => (found ? part.split(found).map((piece, at) => (at % 2 ? h('mark', {}, piece) : piece)) : part);
  const spans = [plain, (code) => h('code', {}, plain(code)), (strong) => h('strong', {}, marked(strong, words))];
  return String(text ?? '').split(SPANS).map((part, at) => part && spans[at % spans.length](part));
}
