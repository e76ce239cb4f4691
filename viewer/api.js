// The worker's HTTP API. The token lives in this tab alone and is sent as a header.

const KEY = 'claude-mem-token';

/** Trades the one-time secret of the link for a token, and takes it out of the address bar. */
export async function enter() {
  const secret = new URLSearchParams(location.hash.replace(/^#/, '')).get('k');
  if (!secret) return;
  history.replaceState(null, '', `${location.pathname}#/feed`);
  const answer = await fetch('/api/page/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ secret }),
  });
  if (answer.ok) sessionStorage.setItem(KEY, (await answer.json()).token);
}

export const token = () => sessionStorage.getItem(KEY) ?? '';

/** What the worker said no to, in its own words. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.error ?? `The worker answered ${status}`);
    this.status = status;
    this.hint = body?.hint ?? '';
    this.key = body?.key;
  }
}

async function call(method, path, body) {
  const headers = { 'X-Claude-Mem-Token': token() };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
  } catch {
    throw new Refused(0, { error: 'The worker does not answer', hint: 'Start it with `claude-mem open`.' });
  }
  const text = await answer.text();
  const value = text ? JSON.parse(text) : null;
  if (!answer.ok) throw new Refused(answer.status, value);
  return value;
}

/** A query string without what is empty. */
export function query(params) {
  const kept = Object.entries(params).filter(([, value]) => value !== '' && value != null && value !== false);
  return kept.length ? `?${new URLSearchParams(kept)}` : '';
}

export const get = (path, params = {}) => call('GET', path + query(params));
export const post = (path, body = {}) => call('POST', path, body);
export const patch = (path, body) => call('PATCH', path, body);
export const remove = (path) => call('DELETE', path);
