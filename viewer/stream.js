// What happens, as it happens: server-sent events, read by fetch so that the token can be sent.

import { token } from './api.js';

const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000];

/** Emits `event` for every message and `link` when the connection comes or goes. */
export class Stream extends EventTarget {
  #last = '';
  #tries = 0;

  async run() {
    for (;;) {
      try {
        await this.#read();
      } catch {
        // Gone; tried again below.
      }
      this.#emit('link', { up: false });
      await new Promise((done) => setTimeout(done, RETRY_MS[Math.min(this.#tries++, RETRY_MS.length - 1)]));
      if (document.hidden) await new Promise((done) => document.addEventListener('visibilitychange', done, { once: true }));
    }
  }

  async #read() {
    const headers = { 'X-Claude-Mem-Token': token(), Accept: 'text/event-stream' };
    if (this.#last) headers['Last-Event-ID'] = this.#last;
    const answer = await fetch('/stream', { headers });
    if (!answer.ok) throw new Error(String(answer.status));
    this.#tries = 0;
    this.#emit('link', { up: true });
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const messages = rest.split('\n\n');
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
