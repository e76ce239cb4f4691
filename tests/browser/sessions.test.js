// The list of sessions: outcome, duration, branch, agent, days, filters and live updates.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becomes, exported, opened, picture, revisit, shown, until, visit } from './stage.js';

const HOUR_MS = 3_600_000;
/** Sessions of an export, with their age in hours. */
const AGED = [['aged-1', 30, 'Caulk the old barge'], ['aged-4', 36, `Paint ${'the long pier '.repeat(20)}`.slice(0, 200)], ['aged-2', 24 * 10, 'Count the mooring rings'], ['aged-3', 24 * 60, 'Sound the channel']];

const agedSessions = (root) => {
  const now = Date.now();
  const project = { uid: '01900000-0000-7000-8000-0000000000a1', name: 'harbour', root, keys: [`path:${root}`], last_active: now, created_at: now };
  const sessions = AGED.map(([name, hours, prompt], n) => ({
    uid: `01900000-0000-7000-8000-0000000000b${n}`, client: 'claude-code', client_session: name, project: project.uid, branch: `branch-${n}`, user_prompt: prompt, status: 'completed',
    origin: 'agent', prompt_counter: 1, last_activity: now - hours * HOUR_MS + 90 * 60_000, created_at: now - hours * HOUR_MS,
  }));
  return { format: 'claude-mem', version: 1, projects: [project], sessions };
};

const it = opened(async (stage) => {
  await stage.turn('Oil the lock gate', { session: 'claude-1', said: 'The lock gate is oiled.' });
  const of = (event, more) => stage.hook(event, more, 'codex-1', 'codex');
  await of('UserPromptSubmit', { prompt: 'Grease the winch', turn_id: 'winch-1' });
  await of('Stop', { last_assistant_message: 'The winch is greased.', turn_id: 'winch-1' });
  stage.settle();
  stage.import(agedSessions(stage.project));
});
const line = (text) => it.page.locator('a.row', { hasText: text });

test('a session has its outcome, duration, branch and agent, below its day', async () => {
  const { page, stage } = it;
  await visit(page, 'sessions');
  await line('Oil the lock gate').waitFor();
  const { items } = await stage.api('GET', '/api/sessions?limit=50');
  const newest = items.find((one) => one.clientSession === 'claude-1');
  assert.ok(newest.outcome, 'the turn has an outcome');
  assert.equal(await line('Oil the lock gate').locator('.row-outcome').textContent(), newest.outcome.replaceAll('`', ''));
  const facts = (await line('Oil the lock gate').locator('.meta bdi').allTextContents()).join(' | ');
  assert.match(facts, /harbour \| Claude Code \| main \| under a minute \| 1 turn/);
  assert.match((await line('Grease the winch').locator('.meta bdi').allTextContents()).join(' | '), /Codex/);
  assert.match((await line('Caulk the old barge').locator('.meta bdi').allTextContents()).join(' | '), /branch-0 \| 1 h 30 min/);
  assert.match(await line('Paint the long pier').locator('.row-title').textContent(), /…$/, 'a name that was cut says so');
  assert.doesNotMatch(await line('Caulk the old barge').textContent(), /0 memories|…/);
  const days = await page.locator('h2.day').allTextContents();
  assert.equal(days[0], 'Today');
  assert.equal(new Set(days).size, days.length, 'each day once');
  const grouped = await page.locator('.session-days').evaluate((box) => [...box.querySelectorAll('ol')].map((list) => list.previousElementSibling.matches('h2.day') && list.children.length));
  assert.equal(grouped.reduce((sum, one) => sum + one, 0), items.length);
  await picture(page, 'sessions');
});

test('a session is active while it works, and idle an hour later', async () => {
  const { page } = it;
  await line('Oil the lock gate').locator('.tag', { hasText: 'Active' }).waitFor();
  assert.equal(await line('Count the mooring rings').locator('.tag').count(), 0);
  const statusOf = async (tab, title) => {
    await tab.locator('a.row', { hasText: title }).click();
    await tab.locator('main[data-view="session"]').waitFor();
    const is = await tab.locator('.figures div', { hasText: 'Status' }).locator('dd').textContent();
    await tab.goBack();
    await tab.locator('a.row', { hasText: title }).waitFor();
    return is;
  };
  assert.equal(await statusOf(page, 'Oil the lock gate'), 'Active');
  assert.equal(await statusOf(page, 'Sound the channel'), 'Ended');
  // Two hours later nothing has happened, and its client never said that it ended.
  const later = await it.stage.page();
  await later.locator('mem-card').first().waitFor();
  await later.clock.setFixedTime(Date.now() + 2 * HOUR_MS);
  await visit(later, 'sessions');
  assert.equal(await later.locator('a.row', { hasText: 'Oil the lock gate' }).locator('.tag').count(), 0);
  assert.equal(await statusOf(later, 'Oil the lock gate'), 'Idle');
  await later.context().close();
});

test('the period and the agent narrow the list, and it can be exported', async () => {
  const { page, stage } = it;
  const titles = () => page.locator('.row-title').allTextContents();
  for (const [period, hidden] of [['Last 24 hours', ['Caulk', 'Paint', 'Count', 'Sound']], ['Last 7 days', ['Count', 'Sound']], ['Last 30 days', ['Sound']], ['Last 90 days', []]]) {
    await page.getByLabel('Period').selectOption({ label: period });
    const wanted = (await stage.api('GET', '/api/sessions?limit=50')).items.filter((one) => !hidden.some((word) => one.title?.startsWith(word))).length;
    await becomes(page, async () => (await titles()).length, wanted, period);
    for (const word of hidden) assert.equal(await line(word).count(), 0, `${period}: ${word}`);
  }
  await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Codex' });
  await becomes(page, async () => (await titles()).length, 1);
  await line('Grease the winch').waitFor();
  const rows = await exported(page, page.locator('[data-act="export-list"]'));
  assert.deepEqual(rows.map((one) => one.agent), [{ name: 'codex', title: 'Codex' }]);
  await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Claude Code' });
  await becomes(page, async () => (await titles()).includes('Grease the winch'), false);
});

test('the agent is on the card, and a search can be narrowed to it', async () => {
  const { page } = it;
  await visit(page, 'feed');
  await page.locator('mem-turn', { hasText: 'Grease the winch' }).locator('.turn-foot .agent', { hasText: 'Codex' }).waitFor();
  await visit(page, 'search?q=the');
  const agents = () => page.locator('mem-card').evaluateAll((all) => [...new Set(all.map((one) => one.row.agent?.title ?? 'none'))].sort());
  await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'Codex' });
  await until(page, () => location.hash.includes('agent=codex'));
  await becomes(page, agents, ['Codex']);
  await page.locator('mem-card .card-toggle').first().click();
  await page.locator('.card-body .agent', { hasText: 'Codex' }).waitFor();
  await picture(page, 'search-agent');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until(page, () => !location.hash.includes('agent='));
});

test('the list is live also after “More”, and “← Sessions” leads back to its place', async () => {
  const { page, stage } = it;
  for (let n = 0; n < 44; n += 1) await stage.hook('UserPromptSubmit', { prompt: `Plank number ${n}`, prompt_id: `plank-${n}` }, `plank-${n}`);
  stage.settle();
  await revisit(page, 'sessions');
  await until(page, () => document.querySelectorAll('a.row').length === 40);
  await page.getByRole('button', { name: 'More' }).click();
  await until(page, () => document.querySelectorAll('a.row').length > 40);
  await stage.hook('UserPromptSubmit', { prompt: 'Hoist the late flag', prompt_id: 'late-1' }, 'late-1');
  stage.settle();
  await line('Hoist the late flag').waitFor();
  assert.ok((await page.locator('a.row').count()) > 40, 'the sessions that were loaded stay');
  const low = line('Plank number 3').last();
  // At once: a list that is drawn again meanwhile replaces the row.
  await low.evaluate((one) => one.scrollIntoView({ block: 'center' }));
  const before = await page.evaluate(() => Math.round(scrollY));
  assert.ok(before > 400, `scrolled to ${before}`);
  await low.click();
  await page.locator('main[data-view="session"]').waitFor();
  await shown(page);
  await page.getByRole('link', { name: '← Sessions' }).click();
  await page.locator('main[data-view="sessions"]').waitFor();
  await becomes(page, () => page.evaluate(() => Math.round(scrollY)), before);
});
