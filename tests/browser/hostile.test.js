// Stored text is shown as text and never executed.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { payloads } from './payloads.js';
import { opened, PATIENCE_MS, picture, shown, until, visit } from './stage.js';

const MANY = 150;
const NOW = 1_794_700_800_000;
const all = payloads(MANY);

/** Every text of every row is the payload. */
function document() {
  const uid = (kind, n) => `01a1e18e-7aa0-7377-b7ac-${kind}${String(n).padStart(11, '0')}`;
  const each = (make) => all.map((text, n) => make(text, n, { session: uid('2', n), project: uid('1', n), prompt_number: 1, branch: text, origin: 'agent', made_by: 'local', created_at: NOW - n * 60_000 }));
  return {
    format: 'claude-mem', version: 1, exported_at: '2026-11-15T00:00:00Z',
    projects: each((text, n) => ({ uid: uid('1', n), name: text, root: `/home/user/${n}/${text}`, keys: [`remote:example.org/${n}`], last_active: NOW, created_at: NOW })),
    sessions: each((text, n) => ({ uid: uid('2', n), client: 'claude-code', client_session: `${n} ${text}`, project: uid('1', n), branch: text, user_prompt: text, status: 'completed', origin: 'agent', prompt_counter: 1, last_activity: NOW - n, completed_at: NOW, created_at: NOW - n })),
    prompts: each((text, n, place) => ({ ...place, uid: uid('3', n), text, origin: 'user' })),
    messages: each((text, n, place) => ({ ...place, uid: uid('4', n), text })),
    observations: each((text, n, place) => ({ ...place, uid: uid('5', n), type: n % 2 ? 'decision' : text.slice(0, 40), title: text, subtitle: text, narrative: text, facts: [text], concepts: [text], files_read: [text], files_modified: [text], discovery_tokens: 10, read_tokens: 10 })),
    summaries: each((text, n, place) => ({ ...place, uid: uid('6', n), request: text, investigated: text, learned: text, completed: text, next_steps: text, notes: text, files_read: [text], files_edited: [text], discovery_tokens: 10, read_tokens: 10 })),
    tombstones: [],
  };
}

const it = opened(() => {}, { seed: (stage) => stage.import(document()) });
const { stage } = it;
let page;
beforeEach(() => ({ page } = it));

const quiet = async () => {
  assert.deepEqual(page.troubles, []);
  assert.equal(await page.evaluate(() => window.claudeMemRan), undefined);
};

test(`${MANY} hostile texts in every row stay text`, async () => {
  assert.equal(all.length, MANY);
  await page.evaluate(() => (window.shownTitles = new Set()));
  // Asked at every frame: each time a window further down.
  await until(page, () => {
    for (const one of document.querySelectorAll('.card-toggle[aria-expanded="false"]')) one.click();
    for (const one of document.querySelectorAll('.card-toggle')) window.shownTitles.add(one.textContent);
    scrollBy(0, innerHeight);
    return document.querySelector('.list-over') && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  }, null, { timeout: 5 * PATIENCE_MS });
  const shown = await page.evaluate(() => [...window.shownTitles]);
  // Most come through redaction as they are; those that do are shown to the letter.
  const whole = all.filter((text) => shown.includes(text)).length;
  assert.ok(whole >= MANY * 0.8, `${whole} of ${MANY} shown as they are`);
  assert.equal(await page.locator('main').locator('script, iframe, object, embed, img, link, style, base, meta, marquee, video, audio').count(), 0);
  await picture(page, 'hostile');
  await quiet();
});

test('stored text runs in no view', async () => {
  const { items } = await stage.api('GET', '/api/sessions?limit=5');
  for (const view of ['sessions', 'dashboard', 'context', ...items.map((one) => `sessions/${one.id}`)]) {
    await visit(page, view);
    await quiet();
  }
  await until(page, (many) => document.querySelectorAll('#project option').length > many, MANY);
  for (const index of [1, 40, 80, 120]) {
    await page.locator('#project').selectOption({ index });
    await shown(page);
    await visit(page, 'context');
    await page.locator('.lines, .state').first().waitFor();
    await visit(page, 'feed');
    await page.locator('mem-card').first().waitFor();
    await quiet();
  }
  await page.locator('#project').selectOption('');
  await shown(page);
});

test('typed text does not run', async () => {
  for (const [n, text] of all.entries()) {
    if (n % 10) continue;
    await page.locator('#find').fill(text);
    await until(page, (typed) => new URLSearchParams(location.hash.split('?')[1]).get('q') === typed, text.trim());
    await shown(page);
  }
  await quiet();
  for (const name of ['concept', 'file']) {
    await page.locator(`input[name="${name}"]`).fill(all[0]);
    await until(page, ([key, typed]) => new URLSearchParams(location.hash.split('?')[1]).get(key) === typed, [name, all[0]]);
    await shown(page);
  }
  await visit(page, 'settings');
  await page.locator('details.advanced').evaluateAll((folded) => folded.forEach((one) => (one.open = true)));
  for (const key of ['model', 'base_url', 'ignore_paths', 'log_days']) {
    await page.locator(`#set-${key}`).fill(all[5]);
    await page.locator(`#set-${key}`).press('Tab');
    // Taken or refused: either is said.
    await until(page, (id) => document.querySelector(`#set-${id}-problem:not(:empty)`) || document.querySelector(`.setting:has(#set-${id}) button`), key);
  }
  await page.locator('#set-log_days-problem:not(:empty)').waitFor();
  await quiet();
});

test('text that is edited or added by hand does not run', async () => {
  await visit(page, 'feed?type=decision');
  await page.locator('.card-toggle').first().click();
  await page.locator('[data-act="edit"]').first().click();
  const title = await page.locator('.edit [name="title"]').inputValue();
  assert.ok(all.includes(title), title);
  await page.locator('.edit [name="subtitle"]').fill(all[1]);
  await page.locator('.edit').getByRole('button', { name: 'Save' }).click();
  await page.locator('[data-act="edit"]').first().waitFor();
  await page.locator('#add').click();
  await page.getByLabel('Memory', { exact: true }).fill(all[2]);
  const said = page.locator('.toast', { hasText: 'Saved as' }).waitFor();
  await page.locator('dialog').getByRole('button', { name: 'Save' }).click();
  await said;
  await quiet();
});
