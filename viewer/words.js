// Numbers, times and marks, as a person reads them.

const number = new Intl.NumberFormat();
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
const timeFormat = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

export const count = (n) => number.format(n ?? 0);
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const day = (ms) => dayFormat.format(ms);
export const time = (ms) => timeFormat.format(ms);

export function ago(ms) {
  const seconds = (ms - Date.now()) / 1_000;
  for (const [unit, size] of [['day', 86_400], ['hour', 3_600], ['minute', 60]]) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  }
  return 'just now';
}

export function bytes(n) {
  for (const [unit, size] of [['GB', 1e9], ['MB', 1e6], ['KB', 1e3]]) if (n >= size) return `${(n / size).toFixed(n >= 10 * size ? 0 : 1)} ${unit}`;
  return `${count(n)} B`;
}

/** A shape for each type, so that colour is never the only difference. */
export const MARKS = { decision: '◆', bugfix: '●', feature: '▲', refactor: '■', discovery: '○', change: '◐', summary: '≡', prompt: '›', message: '‹' };

export const markOf = (row) => MARKS[row.kind === 'observation' ? row.type : row.kind] ?? '◇';
export const typeOf = (row) => (row.kind === 'observation' ? row.type : row.kind);
export const titleOf = (row) => row.title || row.request || (row.private ? 'A private prompt' : row.text) || '(no title)';
export const apiOf = (row) => `/api/${{ observation: 'observations', summary: 'summaries', prompt: 'prompts', message: 'messages' }[row.kind]}/${row.id}`;
