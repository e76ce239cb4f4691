// What happens, as it happens: server-sent events, read by fetch so that the token can be sent.

import { token } from './api.js';

const RETRY_MS = [250, 500, 1_000, 2_000, 5_000, 10_000];

/** Emits `event` for every message, `link` when the connection comes or goes, and `locked` when
 *  the token is worth nothing any more: then it stops. */
export class Stream extends EventTarget {
  #last = '';
  #tries = 0;
  #running = false;

  /** `after`: what is known already, as the feed says it. */
  async run(after = '') {
    if (this.#running) return;
    this.#running = true;
    this.#last = after;
    while (this.#running) {
      try {
        await this.#read();
      } catch {
        // Gone; tried again below.
      }
      if (!this.#running) break;
      // It may just have been started anew, or the page be on its way out: the first time is not said.
      if (this.#tries > 0) this.#emit('link', { up: false });
      await new Promise((done) => setTimeout(done, RETRY_MS[Math.min(this.#tries++, RETRY_MS.length - 1)]));
      if (document.hidden) await new Promise((done) => document.addEventListener('visibilitychange', done, { once: true }));
    }
  }

  async #read() {
    const headers = { 'X-Claude-Mem-Token': token(), Accept: 'text/event-stream' };
    if (this.#last) headers['Last-Event-ID'] = this.#last;
    const answer = await fetch('/stream', { headers });
    if (answer.status === 401) {
      this.#running = false;
      this.#emit('locked');
    }
    if (!answer.ok) throw new Error(String(answer.status));
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
