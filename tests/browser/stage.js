// Fixture of every browser test: an empty home directory, a worker in it, and a browser.
//
// Nothing sleeps for a fixed time: every wait is for a condition and fails if it is never met.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { chromium } from 'playwright-core';

const need = (name) => process.env[name] ?? (() => { throw new Error(`${name} is not set: run these tests by \`cargo xtask test --only browser\``); })();
const EXE = need('CLAUDE_MEM_TEST_EXE');
const BENCH = need('CLAUDE_MEM_TEST_BENCH');
const OUT = need('CLAUDE_MEM_TEST_OUT');

/** Timeout of every wait, generous enough for a loaded machine. */
export const PATIENCE_MS = 60_000;
/** Timeout of every wait after a failed test, so that the file ends soon. */
const HURRY_MS = 5_000;
let patience = PATIENCE_MS;
const JSON_BODY = { 'Content-Type': 'application/json' };
/** Factor by which the browser's CPU is slowed down. */
const SLOWDOWN = Number(process.env.CLAUDE_MEM_TEST_SLOWDOWN ?? 1);
const BROWSER = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];

export class Stage {
  /** `settings` go into the settings file. */
  constructor(settings = {}) {
    this.root = mkdtempSync(join(tmpdir(), 'claude-mem-browser-'));
    this.home = join(this.root, 'home');
    // Not the home directory's: then its worker would share its port with the workers of other test files.
    this.data = join(this.root, 'store');
    this.project = join(this.root, 'harbour');
    for (const folder of [this.data, join(this.project, '.git')]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(this.project, '.git/HEAD'), 'ref: refs/heads/main\n');
    this.env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: this.home, CLAUDE_MEM_DATA_DIR: this.data, LANG: 'C.UTF-8', TZ: 'UTC', CLAUDE_MEM_WORKER: 'manual' };
    if (Object.keys(settings).length > 0) writeFileSync(join(this.data, 'settings.json'), JSON.stringify(settings), { mode: 0o600 });
    // Ends the worker even if the test is aborted.
    this.last = () => this.end();
    this.pages = [];
    process.once('exit', this.last);
  }

  /** Runs the executable and waits for its exit. */
  mem(args, input = '') {
    return execFileSync(EXE, args, { env: this.env, cwd: this.project, input, encoding: 'utf8', timeout: PATIENCE_MS });
  }

  /** Runs the executable in the background. */
  memAsync(args, input) {
    return new Promise((done, fail) => {
      const child = spawn(EXE, args, { env: this.env, cwd: this.project, stdio: ['pipe', 'ignore', 'ignore'], timeout: PATIENCE_MS });
      child.on('error', fail);
      child.on('exit', (code) => (code === 0 ? done() : fail(new Error(`${args.join(' ')} ended with ${code}`))));
      child.stdin.end(input);
    });
  }

  /** Calls a hook, as the client does. */
  hook(event, more = {}, session = 'session-1', agent = 'claude-code') {
    const payload = { session_id: session, hook_event_name: event, cwd: this.project, transcript_path: '/nowhere.jsonl', ...more };
    return this.memAsync(['hook', agent, event], JSON.stringify(payload));
  }

  /** Calls a hook and returns the context that it injects. */
  injected(event, more = {}, session = 'session-1') {
    const payload = { session_id: session, hook_event_name: event, cwd: this.project, transcript_path: '/nowhere.jsonl', ...more };
    const said = this.mem(['hook', 'claude-code', event], JSON.stringify(payload)).trim();
    return said ? (JSON.parse(said).hookSpecificOutput?.additionalContext ?? '') : '';
  }

  /** Sends a prompt, an edit and the agent's last message, which names the change. */
  async turn(prompt, { file = 'src/crane.rs', said = 'The crane stops in time now.', session = 'session-1' } = {}) {
    const path = join(this.project, file);
    // In the client's format: letters, digits and hyphens.
    const id = `${session}-${prompt}`.replace(/\W+/g, '-');
    await this.hook('UserPromptSubmit', { prompt, prompt_id: id }, session);
    await this.hook('PostToolUse', { tool_name: 'Edit', tool_use_id: `toolu-${id}`, tool_input: { file_path: path, old_string: 'let slow = 1;', new_string: 'let slow = stop();' }, tool_response: { filePath: path } }, session);
    const symbol = prompt.toLowerCase().replace(/\W+/g, '_');
    await this.hook('Stop', { last_assistant_message: `${said} Changed \`${symbol}\` in ${file}.`, prompt_id: id }, session);
  }

  /** Fills the database with a long synthetic history, before the worker starts. */
  history(observations, cache = join(OUT, 'corpus')) {
    execFileSync(BENCH, ['corpus', join(this.data, 'claude-mem.db'), '--observations', String(observations), '--cache', cache], { timeout: 10 * PATIENCE_MS });
  }

  /** Imports a document in the format of `claude-mem export`. */
  import(document) {
    const file = join(this.root, 'import.json');
    writeFileSync(file, JSON.stringify(document));
    this.mem(['import', 'json', file, '--trust']);
  }

  start() {
    this.mem(['worker', 'start']);
  }

  /** Waits until the queue is drained. */
  settle() {
    this.mem(['worker', 'run', '--until-drained']);
  }

  link() {
    return this.mem(['open', '--print']).trim();
  }

  /** Sends an HTTP request with a page token. */
  async api(method, path, body) {
    this.entered ??= this.#enter();
    const { origin, token } = await this.entered;
    const headers = { 'X-Claude-Mem-Token': token, ...(body && JSON_BODY) };
    const answer = await fetch(origin + path, { method, headers, body: body && JSON.stringify(body), signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return answer.json();
  }

  async #enter() {
    const { origin, hash } = new URL(this.link());
    const answer = await fetch(`${origin}/api/page/token`, { method: 'POST', headers: JSON_BODY, body: JSON.stringify({ secret: hash.slice('#k='.length) }) });
    return { origin, token: (await answer.json()).token };
  }

  /** The event stream as an endless series of `{name, data, at}`. */
  async *events() {
    this.entered ??= this.#enter();
    const { origin, token } = await this.entered;
    const answer = await fetch(`${origin}/stream`, { headers: { 'X-Claude-Mem-Token': token }, signal: AbortSignal.timeout(5 * PATIENCE_MS) });
    let rest = '';
    for await (const text of answer.body.pipeThrough(new TextDecoderStream())) {
      const at = Date.now();
      const messages = (rest + text).split('\n\n');
      rest = messages.pop();
      for (const message of messages) {
        const line = (name) => message.split('\n').find((one) => one.startsWith(name))?.slice(name.length).trim();
        if (line('data:')) yield { name: line('event:'), data: JSON.parse(line('data:')), at };
      }
    }
  }

  /** Saves a memory and then edits the fields that saving does not accept. */
  async save({ text, title, type, ...more }) {
    const row = await this.api('POST', '/api/memory/save', { text, title, type, project: 'harbour' });
    return Object.keys(more).length ? this.api('PATCH', `/api/observations/${row.id}`, more) : row;
  }

  /** A browser context that shares nothing with others. */
  async context(options = {}) {
    this.browser ??= await chromium.launch({ executablePath: need('CLAUDE_MEM_TEST_BROWSER'), args: BROWSER, timeout: PATIENCE_MS });
    return this.browser.newContext({ viewport: { width: 1280, height: 860 }, colorScheme: 'light', locale: 'en-GB', ...options });
  }

  /** A page in its own browser context. */
  async page(options = {}, link = this.link()) {
    return this.tab(await this.context(options), link);
  }

  /** A page opened by a link, with its errors in `page.troubles`. `prepare(page)` runs before anything
   *  is loaded. */
  async tab(context, link = this.link(), prepare = () => {}) {
    const page = await context.newPage();
    page.setDefaultTimeout(patience);
    this.pages.push(page);
    page.troubles = [];
    page.on('dialog', async (dialog) => {
      page.troubles.push(`dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on('pageerror', (error) => page.troubles.push(`error: ${error.stack}`));
    page.on('console', (message) => /content security policy|trusted ?type/i.test(message.text()) && page.troubles.push(`console: ${message.text()}`));
    await page.exposeFunction('claudeMemViolation', (text) => page.troubles.push(`violation: ${text}`));
    await page.addInitScript(() => document.addEventListener('securitypolicyviolation', (event) => window.claudeMemViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`)));
    if (SLOWDOWN > 1) await (await context.newCDPSession(page)).send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN });
    await prepare(page);
    await page.goto(link);
    return page;
  }

  /** Shortens every wait from now on. */
  hurry() {
    patience = HURRY_MS * SLOWDOWN;
    this.pages.forEach((page) => page.setDefaultTimeout(patience));
  }

  end() {
    process.removeListener('exit', this.last);
    try {
      this.mem(['worker', 'stop']);
    } catch {
      // It never started, or has exited.
    }
    // A worker that was told to stop may still write a last file.
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  async close() {
    await this.browser?.close();
    this.end();
  }
}

/** A stage with a running worker for the tests of one file: `seed(stage)` runs before the worker starts,
 *  `prepare(stage)` after it. */
export function staged(prepare = () => {}, { seed = () => {}, settings = { vectors: false } } = {}) {
  const stage = new Stage(settings);
  // One hook: several of a file would run at the same time.
  before(async () => {
    seed(stage);
    stage.start();
    await prepare(stage);
  });
  afterEach(({ passed }) => passed || stage.hurry());
  after(() => stage.close());
  return stage;
}

/** A stage and a page for the tests of one file. Before each test the page has no dialogs, messages and
 *  routes left from the one before; at the end it must have had no errors. */
export function opened(prepare, { options = {}, ...more } = {}) {
  const it = { stage: null, page: null };
  it.stage = staged(async (stage) => {
    await prepare(stage);
    it.page = await stage.page(options);
    await it.page.locator('#link[data-up="true"]').waitFor();
    await shown(it.page);
  }, more);
  beforeEach(async () => {
    await it.page.unrouteAll({ behavior: 'ignoreErrors' });
    await it.page.evaluate(() => {
      document.querySelectorAll('dialog').forEach((one) => one.close());
      document.getElementById('toasts').replaceChildren();
    });
  });
  after(() => assert.deepEqual(it.page?.troubles ?? [], []));
  return it;
}

/** Navigates to a view and waits until it is loaded. */
export async function visit(page, view) {
  await page.evaluate((hash) => (location.hash = hash), `#/${view}`);
  await shown(page);
}

/** Draws a view anew: by way of another one, because the address must change. */
export async function revisit(page, view) {
  await visit(page, view.startsWith('feed') ? 'dashboard' : 'feed');
  await visit(page, view);
}

/** Waits until the view of the URL is loaded with all its data; the next page of a long list may still be
 *  loading. */
export const shown = (page) => until(page, () => document.querySelector('main').dataset.place === location.hash && !document.querySelector('main [aria-busy]:not(.list-end *)'));

/** Waits until a condition holds; the error names the condition. */
export async function until(page, what, ...args) {
  try {
    await page.waitForFunction(what, ...args);
  } catch (cause) {
    throw new Error(`never so: ${what} with ${JSON.stringify(args)}`, { cause });
  }
}

/** Reads a value until it is as expected; a failure shows the last value. */
export async function becomes(page, read, expected, why) {
  const end = performance.now() + patience;
  let is = await read();
  while (!isDeepStrictEqual(is, expected) && performance.now() < end) {
    await page.evaluate(() => new Promise(requestAnimationFrame));
    is = await read();
  }
  assert.deepEqual(is, expected, why);
}

/** The focused element: `wanted`, or a description of the actual one. */
const focusOf = (page, wanted) => page.evaluate((selector) => {
  const { activeElement: one } = document;
  return one.matches(selector) ? selector : one.outerHTML.slice(0, 120);
}, wanted);

/** Waits until the focus is there; it moves after the page has handled the action. */
export const focused = (page, selector, why) => becomes(page, () => focusOf(page, selector), selector, why);

/** Presses a key until the focus is there, up to a maximum number of times. */
export async function walk(page, key, selector, most = 60) {
  const met = [await focusOf(page, selector)];
  while (met.at(-1) !== selector && met.length <= most) {
    await page.keyboard.press(key);
    met.push(await focusOf(page, selector));
  }
  assert.equal(met.at(-1), selector, `${most} times ${key} led to ${[...new Set(met)].join('\n')}`);
}

/** Fails these requests with a server error until the returned function is called. */
export async function failing(page, address, method = 'GET') {
  const fail = (route) => (route.request().method() === method ? route.fulfill({ status: 503, json: { error: 'the disk is full', hint: 'Make room.' } }) : route.fallback());
  await page.route(address, fail);
  return () => page.unroute(address, fail);
}

/** Discards the text in the focused form. */
export async function discard(page) {
  await page.keyboard.press('Escape');
  await page.locator('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.locator('dialog:has-text("Discard")').waitFor({ state: 'detached' });
}

export const card = (page, text) => page.locator('mem-card', { hasText: text });

/** Holds back the responses to these requests until the returned function is called. The server handles
 *  the requests meanwhile. */
export async function held(page, address, method = 'GET') {
  let release;
  const gate = new Promise((done) => (release = done));
  await page.route(address, async (route) => {
    if (route.request().method() !== method) return route.fallback();
    const response = await route.fetch();
    await gate;
    return route.fulfill({ response });
  });
  return async () => {
    release();
    await page.unrouteAll({ behavior: 'wait' });
  };
}

/** Presses a button that saves a file, and returns the rows in the file. */
export async function exported(page, button) {
  const [download] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return JSON.parse(readFileSync(await download.path(), 'utf8'));
}

/** Forgets by `act`, opens the list of rows that say the same, and returns their handles; nothing more is
 *  forgotten, and the undo brings everything back. */
export async function siblingsOffered(page, act) {
  // The undo of the message would bring back an older one.
  for (const close of await page.locator('.toast').getByRole('button', { name: 'Close' }).all()) await close.click();
  await act();
  await page.locator('.toast [data-act="siblings"]').click();
  const handles = await page.locator('dialog .checklist input').evaluateAll((all) => all.map((one) => one.value));
  await page.locator('dialog').getByRole('button', { name: 'Keep' }).click();
  await page.locator('dialog').waitFor({ state: 'detached' });
  const toast = page.locator('.toast', { has: page.getByRole('button', { name: /^Undo/ }), hasText: 'Forgot' });
  await toast.getByRole('button', { name: /^Undo/ }).click();
  await toast.waitFor({ state: 'detached' });
  return handles;
}

/** Saves a screenshot of the page as an artefact. */
export async function picture(page, name) {
  mkdirSync(OUT, { recursive: true });
  await page.screenshot({ path: join(OUT, `${name}.png`), animations: 'disabled' });
}

/** Reports a measurement; never a reason to fail. */
export const measured = (what, figure) => console.log(`measured: ${what}: ${figure}`);

export const median = (figures) => [...figures].sort((a, b) => a - b)[figures.length >> 1];
