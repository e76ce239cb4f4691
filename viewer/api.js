// The worker's HTTP API. The token lives in this tab alone and is sent as a header.

const KEY = 'claude-mem-token';

/** Trades the one-time secret of the link for a token, and takes it out of the address bar.
 *  False if there was a secret that is worth nothing any more. */
export async function enter() {
  const secret = new URLSearchParams(location.hash.replace(/^#/, '')).get('k');
  if (!secret) return true;
  history.replaceState(null, '', `${location.pathname}#/feed`);
  try {
    const { token } = await call('POST', '/api/page/token', { secret });
    sessionStorage.setItem(KEY, token);
    return true;
  } catch {
    return token() !== '';
  }
}

export const token = () => sessionStorage.getItem(KEY) ?? '';

/** What the worker said no to, in its own words. Status 0: it said nothing at all. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.error ?? `The worker answered ${status}`);
    this.status = status;
    this.hint = body?.hint ?? '';
    this.key = body?.key;
  }
}

export const GONE = { error: 'The worker does not answer', hint: 'Run `claude-mem open`: it starts the worker and opens this page again.' };

async function call(method, path, body) {
  const headers = { 'X-Claude-Mem-Token': token() };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  let text;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    text = await answer.text();
  } catch {
    throw new Refused(0, GONE);
  }
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    throw new Refused(answer.status, { error: 'The worker sent something that cannot be read' });
  }
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
