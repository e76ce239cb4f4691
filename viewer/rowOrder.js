// The orders in which rows stand, as the worker has them.

const KINDS = ['observation', 'summary', 'prompt', 'message', 'account'];

export const oldestFirst = (a, b) => a.createdAt - b.createdAt || KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) || a.id - b.id;
export const newestFirst = (a, b) => oldestFirst(b, a);

/** The place after a row, as the feed is asked for it, and back. */
export const cursorOf = (row) => `${row.createdAt}-${row.kind}-${row.id}`;
export function rowAt(cursor) {
  const [, createdAt, kind, id] = /^(-?\d+)-(\w+)-(\d+)$/.exec(cursor);
  return { createdAt: Number(createdAt), kind, id: Number(id) };
}

/** Names of stream events that carry a row. */
export const isRow = (name) => KINDS.includes(name);
