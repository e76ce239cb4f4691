// The event stream: server-sent events, read by fetch so that the token can be sent.
//
// A browser gives all tabs of one address six connections together. So a tab that nobody looks at
// lets go of its own, and goes on where it was when it is looked at again.

import { get, GONE, token } from './api.js';

const RETRY_MS = [250, 500, 1_000, 2_000, 5_000, 10_000];
/** A tab that is hidden for less than this keeps its connection. */
const HIDDEN_MS = 2_000;
/** A hidden tab says this often that it is still there: the worker ends when nobody is. */
const ALIVE_MS = 30_000;

/** Emits `event` for every message, `link` when the connection comes or goes, and `locked` when
 *  the token is worth nothing any more: then it stops. */
export class Stream extends EventTarget {
  #last = '';
  #tries = 0;
  #running = false;
  #abort = null;
  #hiding;
  #alive;
  /** While the tab is hidden: settled when it is looked at again. */
  #asleep = null;
  #wakeUp = null;

  /** `after`: the cursor of the feed, from which the stream continues. */
  async run(after = '') {
    if (this.#running) return;
    this.#running = true;
    this.#last = after;
    document.addEventListener('visibilitychange', () => this.#look());
    this.#look();
    while (this.#running) {
      await this.#asleep;
      const why = await this.#read().catch((error) => error);
      if (!this.#running) break;
      if (this.#asleep) continue;
      // It may just have been started anew, or the page be on its way out: the first time is not said.
      if (this.#tries > 0) this.#emit('link', { up: false, why: why?.error ? why : GONE });
      await new Promise((done) => setTimeout(done, RETRY_MS[Math.min(this.#tries++, RETRY_MS.length - 1)]));
    }
  }

  #look() {
    clearTimeout(this.#hiding);
    if (document.hidden) this.#hiding = setTimeout(() => this.#sleep(), HIDDEN_MS);
    else this.#wake();
  }

  #sleep() {
    if (this.#asleep || !this.#running) return;
    this.#asleep = new Promise((done) => (this.#wakeUp = done));
    this.#alive = setInterval(() => get('/api/version').catch(() => { /* Found when it is looked at. */ }), ALIVE_MS);
    this.#abort?.abort();
    this.#emit('link', { up: null });
  }

  #wake() {
    clearInterval(this.#alive);
    this.#asleep = null;
    this.#wakeUp?.();
  }

  /** Reads the stream to its end. An error may carry the worker's message. */
  async #read() {
    const headers = { 'X-Claude-Mem-Token': token(), Accept: 'text/event-stream' };
    if (this.#last) headers['Last-Event-ID'] = this.#last;
    this.#abort = new AbortController();
    const answer = await fetch('/stream', { headers, signal: this.#abort.signal });
    if (answer.status === 401) {
      this.#running = false;
      this.#emit('locked');
    }
    if (!answer.ok) throw await answer.json();
    this.#tries = 0;
    this.#emit('link', { up: true });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const messages = (rest + value).split('\n\n');
      rest = messages.pop();
      messages.forEach((message) => this.#message(message));
    }
  }

  #message(text) {
    let name = 'message';
    const data = [];
    for (const line of text.split('\n')) {
      if (line.startsWith('id:')) this.#last = line.slice(3).trim();
      else if (line.startsWith('event:')) name = line.slice(6).trim();
      else if (line.startsWith('data:')) data.push(line.slice(5));
    }
    if (data.length) this.#emit('event', { name, data: JSON.parse(data.join('\n')) });
  }

  #emit(kind, detail) {
    this.dispatchEvent(new CustomEvent(kind, { detail }));
  }
}
