// Runs the viewer in every engine: `cargo xtask engines`. Firefox as installed, WebKit (the engine of
// Safari), and Chromium, which the tests cover in more detail, for comparison.
//
// All are driven through the features that they share: navigate to a URL, run a script there.
// No other instrumentation is active, so that the timings are those that a person would experience.
// The scripts use the page's own buttons and fields, and a state that is never reached is an error.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measured, median, PATIENCE_MS, Stage } from './stage.js';

const OUT = process.env.CLAUDE_MEM_TEST_OUT;
const SIZE = [1280, 860];

const freePort = () => new Promise((done) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => done(port));
  });
});

/** Retries until it works: a program needs time to start listening. */
async function insist(attempt) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

/** Requests over a WebSocket, matched to responses by id. */
class Line {
  #waiting = new Map();
  #count = 0;

  static async to(url) {
    const { ws: Socket } = createRequire(import.meta.url)('playwright-core/lib/utilsBundle');
    const line = new Line();
    line.socket = await insist(() => new Promise((done, fail) => {
      const socket = new Socket(url);
      socket.on('open', () => done(socket)).on('error', fail);
    }));
    line.socket.on('message', (text) => line.#hear(JSON.parse(text)));
    return line;
  }

  #hear({ id, error, message, result }) {
    const [done, fail] = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    if (error) fail?.(new Error(`${error.message ?? error}: ${message}`));
    else done?.(result);
  }

  ask(method, params = {}) {
    const id = ++this.#count;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((done, fail) => this.#waiting.set(id, [done, fail]));
  }
}

/** A browser with a temporary profile. */
class Program {
  constructor(name) {
    this.profile = mkdtempSync(join(tmpdir(), `claude-mem-${name}-`));
  }

  launch(program, args) {
    this.program = spawn(program, args, { stdio: 'ignore', env: { ...process.env, HOME: this.profile }, detached: true });
  }

  async end() {
    this.line?.socket.close();
    const ended = new Promise((done) => this.program.once('exit', done));
    process.kill(-this.program.pid, 'SIGKILL');
    await ended;
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Chromium through the DevTools protocol. */
class Chromium extends Program {
  constructor() {
    super('chromium');
  }

  async start() {
    const port = await freePort();
    this.launch('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', `--window-size=${SIZE}`, `--user-data-dir=${this.profile}`, `--remote-debugging-port=${port}`, 'about:blank']);
    const tabs = await insist(async () => (await fetch(`http://127.0.0.1:${port}/json/list`)).json());
    this.line = await Line.to(tabs.find((tab) => tab.type === 'page').webSocketDebuggerUrl);
  }

  go(url) {
    return this.line.ask('Page.navigate', { url });
  }

  async run(script) {
    const { result, exceptionDetails } = await this.line.ask('Runtime.evaluate', { expression: `(async () => { ${script} })()`, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async picture() {
    return (await this.line.ask('Page.captureScreenshot')).data;
  }
}

/** Firefox through its built-in WebDriver BiDi. */
class Firefox extends Program {
  constructor() {
    super('firefox');
  }

  async start() {
    const port = await freePort();
    this.launch('firefox-esr', ['--headless', '--no-remote', '--profile', this.profile, '--remote-debugging-port', String(port), 'about:blank']);
    this.line = await Line.to(`ws://127.0.0.1:${port}/session`);
    await this.line.ask('session.new', { capabilities: {} });
    const { contexts } = await this.line.ask('browsingContext.getTree');
    this.tab = contexts[0].context;
    await this.line.ask('browsingContext.setViewport', { context: this.tab, viewport: { width: SIZE[0], height: SIZE[1] } });
  }

  go(url) {
    return this.line.ask('browsingContext.navigate', { context: this.tab, url, wait: 'complete' });
  }

  async run(script) {
    const { result, exceptionDetails } = await this.line.ask('script.evaluate', { expression: `(async () => { ${script} })()`, target: { context: this.tab }, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result.value;
  }

  async picture() {
    return (await this.line.ask('browsingContext.captureScreenshot', { context: this.tab })).data;
  }
}

/** WebKit through its WebDriver, on a virtual screen. */
class WebKit {
  async start() {
    const port = await freePort();
    this.home = mkdtempSync(join(tmpdir(), 'claude-mem-webkit-'));
    const env = { ...process.env, HOME: this.home, WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1', LIBGL_ALWAYS_SOFTWARE: '1' };
    this.program = spawn('xvfb-run', ['-a', '-s', '-screen 0 1400x1000x24', 'WebKitWebDriver', `--port=${port}`], { stdio: 'ignore', env, detached: true });
    this.origin = `http://127.0.0.1:${port}`;
    const wanted = { alwaysMatch: { browserName: 'MiniBrowser', 'webkitgtk:browserOptions': { binary: '/usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser', args: ['--automation'] } } };
    const { sessionId } = await insist(() => this.#ask('POST', '/session', { capabilities: wanted }));
    this.session = `/session/${sessionId}`;
    await this.#ask('POST', `${this.session}/timeouts`, { script: PATIENCE_MS, pageLoad: PATIENCE_MS });
    await this.#ask('POST', `${this.session}/window/rect`, { width: SIZE[0], height: SIZE[1] });
  }

  async #ask(method, path, body) {
    const answer = await fetch(this.origin + path, { method, body: body && JSON.stringify(body) });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  }

  go(url) {
    return this.#ask('POST', `${this.session}/url`, { url });
  }

  run(script) {
    const whole = `const done = arguments[0]; (async () => { ${script} })().then((value) => done({ value }), (error) => done({ error: String(error) }));`;
    return this.#ask('POST', `${this.session}/execute/async`, { script: whole, args: [] }).then(({ value, error }) => {
      if (error) throw new Error(error);
      return value;
    });
  }

  picture() {
    return this.#ask('GET', `${this.session}/screenshot`);
  }

  async end() {
    if (this.session) await this.#ask('DELETE', this.session).catch(() => { /* Ended below. */ });
    process.kill(-this.program.pid, 'SIGKILL');
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Prepended to every script: waits for a condition; the error names it. */
const HELP = `
  const until = async (what) => {
    const end = Date.now() + ${PATIENCE_MS / 4};
    for (;;) {
      const is = what();
      if (is) return is;
      if (Date.now() > end) throw new Error('never so: ' + what + ' in ' + document.body.innerText.slice(0, 300));
      await new Promise((go) => setTimeout(go, 20));
    }
  };
  const one = (selector, text = '') => [...document.querySelectorAll(selector)].find((it) => it.textContent.includes(text));
  const press = async (selector, text) => (await until(() => one(selector, text))).click();
  const type = (field, text) => { field.value = text; field.dispatchEvent(new Event('input', { bubbles: true })); field.dispatchEvent(new Event('change', { bubbles: true })); };
`;

/** Records errors from now on. */
const WATCH = `
  window.troubles = [];
  const keep = (text) => window.troubles.push(String(text));
  addEventListener('error', (event) => keep(event.message));
  addEventListener('unhandledrejection', (event) => keep(event.reason));
  document.addEventListener('securitypolicyviolation', (event) => keep(event.violatedDirective));
`;

/** The checks for each engine: a name, and the script to run in the page. */
const STEPS = [
  ['the feed is there', "await until(() => one('mem-card', 'cranes stop'));"],
  ['it is live', "await until(() => document.querySelector('#link').dataset.up === 'true');"],
  ['a card opens', "await press('.card-toggle', 'cranes stop'); await until(() => one('.card-body', 'Forget'));"],
  ['it is edited', "await press('.card-body [data-act=edit]'); type(await until(() => document.querySelector('.edit [name=title]')), 'The cranes halt at dusk'); await press('.edit button', 'Save'); await until(() => one('.card-toggle', 'halt at dusk'));"],
  ['it is pinned', "await press('[data-act=pin]'); await until(() => one('.tag', 'Pinned'));"],
  ['it is forgotten, and that is taken back', "await press('[data-act=forget]'); await until(() => !one('.card-toggle', 'halt at dusk')); const said = await until(() => one('.toast', 'Forgot')); [...said.querySelectorAll('button')].find((one) => one.textContent.startsWith('Undo')).click(); await until(() => one('.card-toggle', 'halt at dusk'));"],
  ['it is found as one types', "type(document.getElementById('find'), 'ferry'); await until(() => location.hash.startsWith('#/search') && one('mem-card', 'ferry') && !one('mem-card', 'dusk'));"],
  ['sessions are listed', "location.hash = '#/sessions'; await until(() => one('main', 'Stop the crane'));"],
  ['one is shown', "await press('main a[href^=\"#/sessions/\"]'); await until(() => document.querySelector('main').dataset.view === 'session' && one('main h2'));"],
  ['the dashboard has charts', "location.hash = '#/dashboard'; await until(() => document.querySelector('main svg rect'));"],
  ['the next session is previewed', "location.hash = '#/context'; await until(() => one('.lines', 'halt at dusk'));"],
  ['settings are there', "location.hash = '#/settings'; await until(() => document.querySelectorAll('main input').length > 5);"],
  ['the theme changes', "await press('#theme'); await press('#theme'); await until(() => document.documentElement.dataset.theme === 'dark' && getComputedStyle(document.body).backgroundColor !== 'rgb(246, 245, 242)');"],
  ['the panel tells source and use', "location.hash = '#/feed'; await press('.card-toggle', 'halt at dusk'); await press('[data-act=history]'); await until(() => one('.panel h3', 'Source') && one('.panel h3', 'Use')); document.querySelector('.panel [aria-label=Close]').click(); await until(() => !document.querySelector('.panel'));"],
  ['several are pinned at once, and that is taken back', "location.hash = '#/feed?type=decision'; await until(() => document.querySelector('main').dataset.place === location.hash && one('mem-card', 'halt at dusk')); (await until(() => one('mem-card', 'The ferry leaves at nine')?.querySelector('.select') ?? one('mem-card', 'halt at dusk').querySelector('.select'))).click(); await press('.selection [data-act=pin]'); const said = await until(() => one('.toast', 'Pinned: 1 memory')); [...said.querySelectorAll('button')].find((one) => one.textContent.startsWith('Undo')).click(); await until(() => !one('.toast', 'Pinned: 1 memory'));"],
  ['the review lists a contradiction, which is kept', "location.hash = '#/review'; (await until(() => one('#review-contradiction .review-item', 'Boats are towed')?.querySelector('[data-act=keep]'))).click(); await until(() => !one('#review-contradiction .review-item', 'Boats are towed'));"],
  ['a memory is forgotten and restored from the trash', "location.hash = '#/feed?type=change'; await press('.card-toggle', 'rope was coiled'); (await until(() => one('mem-card', 'rope was coiled').querySelector('[data-act=forget]'))).click(); await until(() => one('.toast', 'Forgot')); location.hash = '#/trash'; (await until(() => one('main[data-view=trash] .row', 'rope was coiled')?.querySelector('button'))).click(); await until(() => !one('main[data-view=trash] .row', 'rope was coiled'));"],
  ['the usage has its sentence, and a bar leads to its rows', "location.hash = '#/usage'; await until(() => one('.lead', 'received')); await press('a.bar-row', 'Received'); await until(() => one('h1', 'Usage: Received') && document.querySelector('tbody tr'));"],
  ['the project has its decisions', "const harbour = [...document.querySelectorAll('#project option')].find((it) => it.textContent === 'harbour').value; location.hash = '#/project?project=' + harbour; await until(() => one('main h1', 'harbour') && one('main', 'Decisions over time')); location.hash = '#/feed?project='; await until(() => document.querySelector('main').dataset.view === 'feed');"],
  ['the palette leads to a view', "await press('#palette'); type(await until(() => document.querySelector('dialog input')), 'trash'); await press('[role=option]', 'Go to Trash'); await until(() => document.querySelector('main').dataset.view === 'trash');"],
  ['two edits are a conflict', "location.hash = '#/feed?type=decision'; await press('.card-toggle', 'halt at dusk'); await press('.card-body [data-act=edit]'); const field = await until(() => document.querySelector('.edit [name=narrative]')); type(field, 'Mine.'); const card = field.closest('mem-card'); const sent = await fetch('/api/observations/' + card.row.id, { method: 'PATCH', headers: { 'Content-Type': 'application/json', 'X-Claude-Mem-Token': sessionStorage.getItem('claude-mem-token') }, body: JSON.stringify({ narrative: 'Theirs.' }) }); if (!sent.ok) throw new Error('not sent'); await press('.edit button[type=submit]', 'Save'); await press('.conflict button', 'Use the stored version'); await until(() => !document.querySelector('.edit') && one('mem-card', 'Theirs.'));"],
  ['the worker restarts and the page reconnects', "let pid = 0; const ask = () => fetch('/health').then((it) => it.json()).then((it) => (pid = it.pid), () => {}); await ask(); const before = pid; location.hash = '#/settings'; (await until(() => document.querySelector('#set-vectors'))).click(); await press('.banner button', 'Restart'); await until(() => one('.toast', 'reconnects by itself')); await until(() => { ask(); return pid !== before; }); await until(() => document.querySelector('#link').dataset.up === 'true');"],
  ['a dialog opens and closes', "await press('#add'); const box = await until(() => document.querySelector('dialog[open]')); box.close(); await until(() => !document.querySelector('dialog'));"],
];

/** Position and handle of the card in view. */
const READ = `
  const card = [...document.querySelectorAll('mem-card')].find((one) => one.getBoundingClientRect().top > 120);
  return card.dataset.handle + ' at ' + Math.round(card.getBoundingClientRect().top);
`;

/** New rows above do not move the card in view. */
async function staysInPlace(stage, engine, name) {
  await engine.run(`${HELP} await until(() => document.documentElement.scrollHeight > 1_900); scrollTo(0, 900); await until(() => scrollY === 900);`);
  const before = await engine.run(READ);
  await stage.save({ text: `Above what ${name} reads.` });
  await engine.run(`${HELP} await until(() => one('.news', '1 new')); await new Promise(requestAnimationFrame);`);
  assert.equal(await engine.run(READ), before, `${name}: what is read stays in its place`);
  await engine.run('scrollTo(0, 0);');
}

async function tryOut(stage, engine, name) {
  await engine.start();
  const shoot = async (what) => writeFileSync(join(OUT, `${name}-${what}.png`), Buffer.from(await engine.picture(), 'base64'));
  await engine.go(stage.link());
  await insist(() => engine.run(WATCH));
  for (const [step, script] of STEPS) {
    await engine.run(`${HELP} ${script}`).catch((error) => { throw new Error(`${name}: ${step}: ${error.message}`); });
  }
  await engine.run(`location.hash = '#/feed';`);
  await staysInPlace(stage, engine, name);
  await stage.save({ text: `Told to ${name} while it looks.` });
  await engine.run(`${HELP} await until(() => one('mem-card', 'Told to ${name}'));`);
  await shoot('feed-dark');
  await engine.run(`${HELP} await press('#theme'); location.hash = '#/dashboard'; await until(() => document.querySelector('main svg rect'));`);
  await shoot('dashboard');
  assert.equal(await engine.run("location.hash = '#/feed'; return window.troubles.join();"), '', name);
  console.log(`${name}: ${STEPS.length + 2} steps, none failed`);
}

const RELOADS = 15;
const REST_MS = 300;
const LOADED = `
  if (window.isOld) return '';
  const [page] = performance.getEntriesByType('navigation');
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return page?.loadEventEnd && paint && document.querySelector('mem-card') ? page.loadEventStart + ' ' + paint.startTime : '';
`;

/** Duration of a reload in milliseconds. Reported, never a reason to fail. */
async function times(engine, name) {
  const seen = [];
  while (seen.length < RELOADS) {
    // The reload starts after the response, because a script that ends its page may never return. The old
    // page must be idle, and the new one is not observed while it loads.
    await engine.run(`window.isOld = true; setTimeout(() => location.reload(), ${REST_MS});`);
    await new Promise((done) => setTimeout(done, 3 * REST_MS));
    const told = await insist(async () => (await engine.run(LOADED)) || Promise.reject(new Error('it is not there yet')));
    seen.push(told.split(' ').map(Number));
  }
  const tell = (what, at) => measured(`${name}, reload, ${what}`, `p50 ${median(seen.map((one) => one[at])).toFixed(0)} ms, least ${Math.min(...seen.map((one) => one[at])).toFixed(0)} ms`);
  tell('the load event', 0);
  tell('memories painted', 1);
}

mkdirSync(OUT, { recursive: true });
const engines = { firefox: Firefox, webkit: WebKit, chromium: Chromium };
const [rows, cache, only] = process.argv.slice(2);
const chosen = only ? [only] : Object.keys(engines);
for (const name of chosen) {
  const stage = new Stage({ vectors: false });
  const engine = new engines[name]();
  try {
    stage.history(Number(rows), cache || undefined);
    await stage.turn('Stop the crane in time');
    stage.settle();
    stage.start();
    await stage.save({ text: 'The cranes stop at dusk.', title: 'The cranes stop at dusk', type: 'decision', pinned: false });
    await stage.save({ text: 'The ferry leaves at nine.' });
    for (const when of ['at noon', 'at night']) await stage.save({ text: `Boats are towed ${when}.`, title: `Boats are towed home ${when}`, type: 'decision' });
    await stage.save({ text: 'The rope was coiled.', title: 'The rope was coiled', type: 'change' });
    await stage.api('POST', '/api/context/inject', { project: 'harbour', sessionId: 'reader-1' });
    await tryOut(stage, engine, name);
    await times(engine, name);
  } finally {
    await engine.end();
    await stage.close();
  }
}
