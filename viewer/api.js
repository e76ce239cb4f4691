// Client of the worker's HTTP API. The token is kept in this tab's storage and sent as a header.

import { TEXTS } from './texts.js';

const { first } = window;

/** Whether the secret of the link was accepted, or there was none. */
export const entered = first.entered;
export const token = first.token;

/** An error response of the worker, with its message and hint. Status 0: no response. */
export class Refused extends Error {
  constructor(status, body) {
    super(body?.error ?? `claude-mem answered ${status}`);
    this.status = status;
    this.hint = body?.hint ?? '';
  }
}

export const GONE = { error: TEXTS.notRunning, hint: TEXTS.startWorker };

async function call(method, path, body, signal) {
  const begun = method === 'GET' && (await taken(path));
  if (begun) return begun;
  const headers = { 'X-Claude-Mem-Token': token() };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  let text;
  try {
    answer = await fetch(path, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
    text = await answer.text();
  } catch {
    throw new Refused(0, GONE);
  }
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    throw new Refused(answer.status, { error: 'claude-mem sent an unreadable response' });
  }
  if (!answer.ok) throw new Refused(answer.status, value);
  return value;
}

/** The response that first.js requested before the modules were loaded; used once. */
function taken(path) {
  if (path !== first.path) return null;
  first.path = null;
  return first.asked;
}

/** A query string without empty values. */
export function query(params) {
  const kept = Object.entries(params).filter(([, value]) => value !== '' && value != null && value !== false);
  return kept.length ? `?${new URLSearchParams(kept)}` : '';
}

export const get = (path, params = {}, signal = undefined) => call('GET', path + query(params), undefined, signal);
export const post = (path, body = {}) => call('POST', path, body);
export const patch = (path, body) => call('PATCH', path, body);
export const remove = (path) => call('DELETE', path);
