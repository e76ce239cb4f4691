// First run, health, restarts, edits in two tabs, addresses and the command palette.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { becomes, card, focused, opened, picture, revisit, shown, until, visit } from './stage.js';

/** Transcripts as two agents leave them. */
const leaveTranscripts = ({ home, project }) => {
  const line = (type, content, n) => JSON.stringify({ type, sessionId: `old-${n}`, cwd: project, uuid: `u-${type}-${n}`, timestamp: `2026-01-0${n + 1}T10:00:00Z`, message: { role: type, content } });
  const claude = join(home, '.claude/projects/harbour');
  mkdirSync(claude, { recursive: true });
  for (const n of [0, 1]) writeFileSync(join(claude, `old-${n}.jsonl`), `${line('user', `Sweep the pier number ${n}`, n)}\n${line('assistant', [{ type: 'text', text: 'Swept.' }], n)}\n`);
  const codex = join(home, '.codex/sessions/2026/01/02');
  mkdirSync(codex, { recursive: true });
  writeFileSync(join(codex, 'rollout-2026-01-02T10-00-00-019.jsonl'), `${JSON.stringify({ timestamp: '2026-01-02T10:00:00Z', type: 'session_meta', payload: { id: '019', cwd: project } })}\n`);
};
const it = opened(async (stage) => leaveTranscripts(stage));

test('a first run says what to do, with commands to copy', async () => {
  const { page } = it;
  await page.getByText('No memories yet').waitFor();
  await page.locator('.steps code', { hasText: 'claude-mem install' }).waitFor();
  await page.locator('.steps .done', { hasText: 'The worker is running' }).waitFor();
  const { agents } = await it.stage.api('GET', '/api/stats');
  assert.deepEqual(agents.filter((one) => one.transcripts).map((one) => [one.title, one.transcripts, one.isImported]), [['Claude Code', 2, false], ['Codex', 1, false]]);
  const step = page.locator('.steps li', { hasText: 'Import earlier sessions' });
  await step.getByText('Claude Code: 2 transcripts found.').waitFor();
  await step.getByText('Codex: 1 transcript found.').waitFor();
  await step.locator('code', { hasText: 'claude-mem import transcripts --agent codex' }).waitFor();
  assert.equal(await step.evaluate((one) => one.classList.contains('done')), false);
  await picture(page, 'first-run');
  await page.locator('#add').click();
  await page.getByLabel('Memory', { exact: true }).fill('The first buoy is red.');
  assert.equal(await page.locator('dialog select[name="project"]').count(), 0, 'there is no project to choose');
  await page.locator('dialog').getByRole('button', { name: 'Save' }).click();
  await card(page, 'The first buoy is red').first().waitFor();
});

test('the step is done when the transcripts are imported', async () => {
  const { page, stage } = it;
  stage.mem(['import', 'transcripts', '--agent', 'claude-code']);
  const imported = async () => (await stage.api('GET', '/api/stats')).agents.filter((one) => one.isImported).map((one) => one.name);
  await becomes(page, imported, ['claude-code']);
  await page.route('**/api/turns?*', (route) => route.fulfill({ json: { items: [], nextCursor: null, seen: '' } }));
  await revisit(page, 'feed');
  const step = page.locator('.steps li', { hasText: 'Import earlier sessions' });
  await step.getByText('Codex: 1 transcript found.').waitFor();
  assert.equal(await step.getByText('Claude Code').count(), 0, 'nothing is left of it');
  await page.unrouteAll({ behavior: 'wait' });
  await revisit(page, 'feed');
});

test('the dashboard has the findings of status and doctor, and fixes what it can', async () => {
  const { page, stage } = it;
  await visit(page, 'dashboard');
  const { problems } = JSON.parse(stage.mem(['status', '--json']));
  const shownFindings = async () => (await page.locator('.problems li > span:first-child').allTextContents()).sort();
  const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
  const notes = ['Codex is on this machine, and claude-mem is not registered with it', 'Search by meaning is switched off'];
  await becomes(page, shownFindings, [...problems.map(({ what }) => upper(what)), ...notes].sort());
  assert.equal(await page.getByText('All is well').count(), 0);
  await page.locator('.chart summary').first().click();
  await stage.api('POST', '/api/pause', {});
  await stage.api('POST', '/api/memory/save', { text: 'The second buoy is green.', global: true });
  await page.locator('.problems li', { hasText: 'paused' }).waitFor();
  assert.equal(await page.locator('.chart details').first().evaluate((one) => one.open), true, 'what was open stays open');
  await page.locator('.problems').getByRole('button', { name: 'Resume' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.problems li', { hasText: 'paused' }).waitFor({ state: 'detached' });
  assert.equal((await stage.api('GET', '/api/processing-status')).paused, false);
});

test('a restart of the worker neither locks the page nor loses what is written', async () => {
  const { page, stage } = it;
  await visit(page, 'feed');
  const one = card(page, 'The first buoy').first();
  await one.locator('.card-toggle').click();
  await one.locator('[data-act="edit"]').click();
  await one.locator('[name="narrative"]').fill('half a sentence');
  const port = new URL(page.url()).port;
  stage.mem(['worker', 'restart']);
  stage.entered = undefined;
  assert.equal(new URL(stage.link()).port, port, 'the worker takes its port again');
  await page.locator('#link[data-up="true"]').waitFor();
  assert.equal(await one.locator('[name="narrative"]').inputValue(), 'half a sentence');
  await one.locator('.edit').getByRole('button', { name: 'Save' }).click();
  await one.locator('.edit').waitFor({ state: 'detached' });
  await page.reload();
  await card(page, 'The first buoy').first().waitFor();
});

for (const view of ['feed', 'feed?type=decision', 'search?q=bell']) {
  test(`two tabs that edit one memory get both versions, never a silent overwrite: ${view}`, async () => {
    const { page, stage } = it;
    const row = await stage.api('POST', '/api/memory/save', { text: 'The bell is struck twice.', title: 'The bell', type: 'decision', global: true });
    const its = (what) => page.locator(`mem-card[data-handle="${row.handle}"] ${what}`);
    const stored = () => stage.api('GET', `/api/observations/${row.id}`);
    const write = async (text) => {
      await its('.card-toggle').waitFor();
      if (!(await its('.card-body').count())) await its('.card-toggle').click();
      await its('[data-act="edit"]').click();
      await its('[name="narrative"]').fill(text);
    };
    await visit(page, view);
    await write('The bell is struck three times.');
    await stage.api('PATCH', `/api/observations/${row.id}`, { narrative: 'The bell is struck once.' });
    // The stream reports the other edit before this one is saved.
    await until(page, (id) => document.querySelector('main mem-list') && [...document.querySelectorAll('mem-card')].some((one) => one.row.id === id && one.row.narrative.endsWith('once.')), row.id);
    await its('.edit').getByRole('button', { name: 'Save', exact: true }).click();
    await its('.conflict del').first().waitFor();
    assert.equal((await stored()).narrative, 'The bell is struck once.', 'nothing was overwritten');
    await picture(page, 'conflict');
    await page.keyboard.press('Enter');
    await its('.edit').waitFor({ state: 'detached' });
    assert.equal((await stored()).narrative, 'The bell is struck three times.', 'Save mine has the focus');
    await write('The bell is silent.');
    await stage.api('DELETE', `/api/observations/${row.id}`);
    await its('.edit').getByRole('button', { name: 'Save', exact: true }).click();
    await its('').getByRole('button', { name: 'Save as new' }).click();
    await page.locator('.toast', { hasText: 'Saved as' }).last().waitFor();
    await becomes(page, async () => (await stage.api('GET', '/api/observations?limit=5')).items.some((one) => one.narrative === 'The bell is silent.'), true);
  });
}

test('the palette leads everywhere by a few letters', async () => {
  const { page } = it;
  await page.keyboard.press('Control+k');
  await focused(page, 'dialog input');
  await page.keyboard.type('usage');
  await page.keyboard.press('Enter');
  await page.locator('main[data-view="usage"]').waitFor();
  assert.match(await page.title(), /^Usage · /);
  await page.locator('#palette').click();
  await page.locator('dialog input').fill('buoy');
  await picture(page, 'palette');
  await page.locator('[role="option"]', { hasText: 'Search for “buoy”' }).click();
  await page.locator('main[data-view="search"]').waitFor();
  await card(page, 'The first buoy').first().waitFor();
  assert.match(await page.title(), /“buoy”/);
});

test('the chosen project is in the address, and unknown addresses say so', async () => {
  const { page, stage } = it;
  await stage.turn('Mend the net');
  stage.settle();
  await visit(page, 'feed');
  await page.locator('#project option', { hasText: 'harbour' }).waitFor({ state: 'attached' });
  await page.locator('#project').selectOption({ label: 'harbour' });
  await until(page, () => /project=\d+/.test(location.hash));
  await shown(page);
  const address = page.url();
  const other = await page.context().newPage();
  await other.goto(address);
  // It gets its key from the tab that is connected, and shows the same project.
  await other.locator('mem-card').first().waitFor();
  assert.equal(new URL(other.url()).hash, new URL(address).hash);
  await becomes(other, () => other.locator('#project').evaluate((one) => one.selectedOptions[0]?.textContent), 'harbour');
  await other.close();
  await page.locator('#project').selectOption('');
  await until(page, () => !location.hash.includes('project='));
  await page.evaluate(() => (location.hash = '#/nowhere'));
  await page.getByText('There is no such page').waitFor();
  await visit(page, 'sessions/999999');
  await page.getByRole('heading', { name: 'Not found' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'trying again does not help');
});

test('settings have sections, folded advanced ones and one notice about the restart', async () => {
  const { page, stage } = it;
  await visit(page, 'settings');
  assert.ok((await page.locator('nav[aria-label="Sections"] a').count()) > 3);
  assert.equal(await page.getByText('Restart required').count(), 0);
  await page.getByLabel('Find a setting').fill('vectors');
  await page.locator('#set-vectors').click();
  await becomes(page, () => page.getByText('Restart required').count(), 1);
  const pid = () => JSON.parse(stage.mem(['worker', 'status', '--json'])).pid ?? null;
  // Every page knows it, and a setting that is changed back needs none.
  const other = await stage.page();
  await other.locator('mem-card').first().waitFor();
  await visit(other, 'settings');
  await other.getByText('Restart required: Search by meaning takes effect').waitFor();
  await other.locator('#set-vectors').click();
  await becomes(other, () => other.getByText('Restart required').count(), 0);
  await other.locator('#set-vectors').click();
  await other.getByText('Restart required').waitFor();
  const before = pid();
  await page.getByRole('button', { name: 'Restart', exact: true }).click();
  await page.getByText('The worker restarts').waitFor();
  await becomes(page, async () => ![before, null].includes(pid()), true, 'another worker runs');
  stage.entered = undefined;
  await page.locator('#link[data-up="true"]').waitFor();
  assert.equal(await page.getByText('Restart required').count(), 0);
  await other.locator('#link[data-up="true"]').waitFor();
  await revisit(other, 'settings');
  assert.equal(await other.getByText('Restart required').count(), 0, 'the worker has restarted since the change');
  await other.context().close();
});

test('a worker that moves to another port says so', async () => {
  const { page, stage } = it;
  await visit(page, 'settings');
  const port = Number(new URL(page.url()).port);
  await page.route('**/api/worker/restart', (route) => route.fulfill({ json: { restarting: true, movesTo: port + 1 } }));
  await stage.api('PATCH', '/api/settings', { port: port + 1 });
  await revisit(page, 'settings');
  await page.getByText('Restart required: Port').waitFor();
  await page.getByRole('button', { name: 'Restart', exact: true }).click();
  await page.getByText(`The worker restarts on port ${port + 1}.`).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await stage.api('PATCH', '/api/settings', { port: null });
});
