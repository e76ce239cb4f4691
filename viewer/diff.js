// The difference of two texts, word by word.

import { h } from './dom.js';

/** Longer texts are compared as a whole: the table of a comparison grows with both lengths. */
const WORDS_MAX = 600;

/** The parts of both texts in order, as `[sign, text]`: `=`, `-` only before, `+` only after. */
function diffOf(before, after) {
  const [a, b] = [before, after].map((text) => text.split(/(\s+)/).filter(Boolean));
  if (before === after) return [['=', before]];
  if (a.length > WORDS_MAX || b.length > WORDS_MAX) return [['-', before], ['+', after]];
  const table = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) table[i][j] = a[i] === b[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  }
  const parts = [];
  const push = (sign, text) => (parts.at(-1)?.[0] === sign ? (parts.at(-1)[1] += text) : parts.push([sign, text]));
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push('=', a[i]);
      i += 1;
      j += 1;
    } else if (j >= b.length || (i < a.length && table[i + 1][j] >= table[i][j + 1])) push('-', a[i++]);
    else push('+', b[j++]);
  }
  return parts;
}

const ELEMENTS = { '=': 'span', '-': 'del', '+': 'ins' };

/** The difference as text with `del` and `ins`. */
const shownDiff = (before, after) => diffOf(before, after).map(([sign, text]) => h(ELEMENTS[sign], {}, text));

const FIELDS = [['Title', 'title'], ['Type', 'type'], ['Subtitle', 'subtitle'], ['Narrative', 'narrative'], ['Facts', 'facts'], ['Concepts', 'concepts']];
const textOf = (value) => (Array.isArray(value) ? value.join('\n') : (value ?? ''));

/** The fields in which two versions of a memory differ, as a list. */
export function changesOf(before, after) {
  const changed = FIELDS.filter(([, key]) => textOf(before[key]) !== textOf(after[key]));
  return h('dl', { class: 'fields diff' }, changed.map(([name, key]) => [h('dt', {}, name), h('dd', { dir: 'auto' }, shownDiff(textOf(before[key]), textOf(after[key])))]));
}

/** Whether two versions have the same text in these fields. */
export const hasSame = (keys, one, other) => keys.every((key) => textOf(one[key]) === textOf(other[key]));
