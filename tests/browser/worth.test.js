// Context preview, usage and the page of a project.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { becomes, card, exported, focused, opened, picture, shown, until, visit } from './stage.js';

let gauge;
const it = opened(async (stage) => {
  await stage.turn('Oil the lock gate', { file: 'src/lock/gate.rs', said: 'The lock gate is oiled.' });
  await stage.turn('Grease the winch', { file: 'src/lock/winch.rs', said: 'The winch is greased.\n\n## Remaining work\n- TODO: the hinges of the lock gate still have to be oiled.\n' });
  await stage.hook('SessionEnd', { reason: 'exit' });
  stage.settle();
  gauge = await stage.save({ text: 'Tide tables are cached for a day because the tide gauge answers slowly.', title: 'Tide tables are cached for a day', type: 'decision' });
  for (let n = 0; n < 3; n += 1) await stage.save({ text: `Crate ${n} was weighed on the quay scale.`, title: `Crate ${n} was weighed`, type: 'change' });
  for (const id of ['reader-1', 'reader-2']) await stage.api('POST', '/api/context/inject', { project: 'harbour', sessionId: id });
});

test('pinning or forgetting a line changes what the next session receives', async () => {
  const { page, stage } = it;
  await visit(page, 'context');
  const preview = () => stage.api('GET', '/api/context/preview?project=harbour');
  await page.locator('.lines').waitFor();
  const block = await preview();
  const memories = block.items.filter((item) => item.handle.startsWith('#'));
  assert.ok(memories.length < block.items.length, 'the account is among the items');
  assert.equal(await page.locator('.note[role="status"]').textContent(), `${block.tokens} of ${block.budget.toLocaleString('en')} tokens; ${memories.length} of ${block.known} memories in the project`);
  const [first] = memories.filter((item) => item.title.startsWith('Crate'));
  await page.getByRole('button', { name: `Pin ${first.handle}`, exact: true }).click();
  await page.getByRole('button', { name: `Unpin ${first.handle}`, exact: true }).waitFor();
  assert.ok((await preview()).items.find((item) => item.handle === first.handle).pinned);
  const forget = page.getByRole('button', { name: `Forget ${first.handle}`, exact: true });
  await forget.focus();
  await page.keyboard.press('Enter');
  await forget.waitFor({ state: 'detached' });
  assert.ok(!(await preview()).text.includes(first.handle));
  await page.locator('.brand').focus();
  await page.keyboard.press('u');
  await forget.waitFor();
  await picture(page, 'context-lines');
});

test('a small budget shows the cut, and what is left out below it', async () => {
  const { page, stage } = it;
  await page.getByLabel(/^What if the budget/).fill('150');
  await until(page, () => document.querySelector('.meter')?.getAttribute('aria-valuemax') === '150');
  const block = await stage.api('GET', '/api/context/preview?project=harbour&tokens=150');
  assert.match(await page.locator('.cut').textContent(), /150 tokens/);
  assert.equal(await page.locator('.omitted').count(), block.omitted.length);
  assert.ok(block.omitted.length > 0, 'something does not fit');
  await page.getByRole('button', { name: 'Back to the saved one' }).click();
  await until(page, () => document.querySelector('.meter')?.getAttribute('aria-valuemax') !== '150');
  // The same by keys: the budget is tried, saved and set back.
  const budget = async () => (await stage.api('GET', '/api/settings')).items.find((item) => item.key === 'context_tokens').value;
  const saved = await budget();
  for (const [key, value] of [['ArrowLeft', saved - 50], ['ArrowRight', saved]]) {
    await page.getByLabel(/^What if the budget/).focus();
    await page.keyboard.press(key);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await becomes(page, budget, value);
    await focused(page, '#budget');
  }
});

test('“Try” shows exactly what the hook injects', async () => {
  const { page, stage } = it;
  const prompt = 'Why are the tide tables cached for a day?';
  const hooked = stage.injected('UserPromptSubmit', { prompt, prompt_id: 'try-1' }, 'try');
  await page.getByLabel('Text to try').fill(prompt);
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.locator('pre.context').waitFor();
  assert.ok(hooked.includes(gauge.handle), hooked);
  assert.equal(await page.locator('pre.context').textContent(), hooked);
  const shownText = () => page.locator('pre.context').textContent();
  const file = join(stage.project, 'src/lock/gate.rs');
  // Of a small file the hook says nothing.
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '// The lock gate.\n'.repeat(40));
  const opening = stage.injected('PreToolUse', { tool_name: 'Read', tool_use_id: 'try-2', tool_input: { file_path: file } }, 'try-file');
  assert.ok(opening.includes('src/lock/gate.rs'), `the hook tells of the file: ${opening}`);
  await page.getByLabel('A file').focus();
  await page.keyboard.press('Space');
  await page.getByLabel('Text to try').fill('src/lock/gate.rs');
  await page.getByLabel('Text to try').press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('pre.context').waitFor();
  assert.equal(await shownText(), opening);
  const error = 'error: the tide gauge answers slowly, tide tables are not cached';
  const failing = stage.injected('PostToolUseFailure', { tool_name: 'Bash', tool_use_id: 'try-3', tool_input: { command: 'make tables' }, error: `Exit code 1\n${error}` }, 'try-error');
  assert.ok(failing.includes(gauge.handle), `the hook tells of the error: ${failing}`);
  await page.getByLabel('Text to try').fill('src/lock/winch.rs');
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByText('The hook injects nothing').waitFor();
  assert.equal(stage.injected('PreToolUse', { tool_name: 'Read', tool_use_id: 'try-4', tool_input: { file_path: join(stage.project, 'src/lock/winch.rs') } }, 'try-file'), '', 'that file does not exist');
  await page.getByLabel('An error').check();
  await page.getByLabel('Text to try').fill(error);
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.locator('pre.context').waitFor();
  assert.equal(await shownText(), failing);
  await page.getByLabel('Text to try').fill('nothing of this kind was ever seen');
  await page.getByLabel('A prompt').check();
  await page.getByRole('button', { name: 'Try', exact: true }).click();
  await page.getByText('The hook injects nothing').waitFor();
});

test('usage says in one sentence what was received and used, from the ledger', async () => {
  const { page, stage } = it;
  await visit(page, 'usage');
  const found = await stage.api('GET', '/api/usage?days=7');
  const lead = await page.locator('.lead').textContent();
  assert.ok(lead.startsWith(`In the last 7 days ${found.sessions} session`), lead);
  assert.ok(found.sessions >= 2 && found.received > 0 && found.neverUsed.length >= 3, JSON.stringify(found));
  assert.equal(found.byProject.reduce((sum, one) => sum + one.received, 0), found.received, 'the projects add up to the sentence');
  assert.ok(!/saved/i.test(await page.locator('main').textContent()), 'nothing is called saved');
  await picture(page, 'usage');
  const never = page.locator('[aria-label="Received and never used"] tbody tr');
  const before = await never.count();
  const handle = found.neverUsed[0].handle;
  await page.getByRole('button', { name: `Forget ${handle}`, exact: true }).click();
  await becomes(page, () => never.count(), before - 1);
  await page.locator('.toast', { hasText: 'Forgot “' }).getByRole('button', { name: /^Undo/ }).click();
  await becomes(page, async () => (await stage.api('GET', '/api/trash')).items.length, 0);
  for (const [name, lead] of [['30 days', 'In the last 30 days'], ['90 days', 'In the last 90 days'], ['All', 'So far']]) {
    await page.getByRole('link', { name, exact: true }).click();
    await until(page, (text) => document.querySelector('.lead')?.textContent.startsWith(text), lead);
    assert.equal(await page.locator('.pick[aria-current="true"]').textContent(), name);
  }
  // A session of 40 days ago is not one of the last 30.
  const requests = [];
  page.on('request', (one) => one.url().includes('/api/usage') && requests.push(new URL(one.url()).searchParams.get('days')));
  await visit(page, 'usage?days=30');
  await visit(page, 'usage?days=90');
  assert.deepEqual(requests, ['30', '90']);
});

test('every bar of the usage leads to its own rows', async () => {
  const { page, stage } = it;
  await stage.api('GET', `/api/observations/${gauge.id}`);
  stage.mem(['show', gauge.handle]);
  for (const [bar, list] of [['Received', 'received'], ['Fetched in full', 'fetched'], ['Cited', 'cited']]) {
    await visit(page, 'usage?days=7');
    await page.locator('a.bar-row', { hasText: bar }).click();
    await until(page, (name) => location.hash.includes(`list=${name}`), list);
    await shown(page);
    const { listed } = await stage.api('GET', `/api/usage?days=7&list=${list}`);
    assert.equal(await page.locator(`[aria-label="${bar}"] tbody tr`).count(), listed.length, bar);
    assert.match(await page.title(), new RegExp(`^Usage: ${bar}`));
    if (listed.length) assert.deepEqual(await exported(page, page.locator('[data-act="export-list"]')), listed);
    await page.getByRole('link', { name: '← Usage' }).click();
    await page.locator('.lead').waitFor();
  }
  await page.locator('a.bar-row', { hasText: 'harbour' }).focus();
  await page.keyboard.press('Enter');
  await until(page, () => /project=\d+/.test(location.hash));
  await page.getByText('Only memories of the chosen project.').waitFor();
  await page.locator('#project').selectOption('');
  await until(page, () => !location.hash.includes('project='));
});

test('the bars of the dashboard lead to their rows, and unmeasured work has none', async () => {
  const { page, stage } = it;
  await visit(page, 'dashboard');
  assert.equal((await stage.api('GET', '/api/stats')).tokens.discovery, 0, 'no model was used');
  await page.getByText('Original work is not measured without a model.').waitFor();
  assert.equal(await page.locator('.bar-row', { hasText: 'Original work' }).count(), 0);
  await picture(page, 'dashboard-tokens');
  await page.locator('a.bar-row', { hasText: 'Injected into sessions' }).click();
  await page.getByRole('heading', { name: 'Usage: Received' }).waitFor();
  await visit(page, 'dashboard');
  await page.locator('a.bar-row', { hasText: 'Model calls' }).click();
  await page.getByText('No model calls').waitFor();
  await visit(page, 'dashboard');
  await page.locator('mem-bars').first().locator('.column').last().click();
  await page.locator('main[data-view="search"] mem-card').first().waitFor();
  await visit(page, 'dashboard');
  await page.locator('.chart summary').nth(1).click();
  await page.locator('.chart details').nth(1).getByRole('link').last().focus();
  await page.keyboard.press('Enter');
  await page.locator('main[data-view="sessions"] a.row').first().waitFor();
});

test('the page of a project has rules, open items, files and decisions', async () => {
  const { page, stage } = it;
  const later = await stage.save({ text: 'Tide tables are cached for an hour.', title: 'Tide tables are cached for an hour', type: 'decision' });
  await stage.api('POST', `/api/observations/${gauge.id}/replace`, { by: later.handle });
  await stage.save({ text: 'From now on always round tonnage up.', title: 'Round tonnage up from now on, always', type: 'decision' });
  await stage.api('PATCH', '/api/settings', { context_tokens: 100 });
  await visit(page, 'project');
  await page.getByRole('heading', { name: 'harbour' }).waitFor();
  const old = page.locator('.row.replaced', { hasText: 'Tide tables are cached for a day' });
  await old.getByText('Replaced by').waitFor();
  await page.locator('.map-file', { hasText: 'gate.rs' }).waitFor();
  await picture(page, 'project');
  // Whether or not a rule fits into the start of a session.
  await page.locator('h2:has-text("Rules") + .rows', { hasText: 'Round tonnage up' }).waitFor();
  await stage.api('PATCH', '/api/settings', { context_tokens: null });
  const { items } = await stage.api('GET', '/api/open-items?project=harbour');
  assert.ok(items.length > 0, 'the session left something open');
  const close = page.locator('.open-item').getByRole('button', { name: 'Close' }).first();
  await close.focus();
  await page.keyboard.press('Enter');
  await becomes(page, async () => (await stage.api('GET', '/api/open-items?project=harbour')).items.length, items.length - 1);
  await page.locator('.toast', { hasText: 'Closed the item' }).waitFor();
  await page.keyboard.press('u');
  await becomes(page, async () => (await stage.api('GET', '/api/open-items?project=harbour')).items.length, items.length);
  assert.match(await page.title(), /^harbour · /);
  await page.locator('.map-file', { hasText: 'gate.rs' }).click();
  await page.locator('main[data-view="search"]').waitFor();
  await shown(page);
  await card(page, 'lock gate').first().waitFor();
});

test('a session shows what it received, in its place', async () => {
  const { page, stage } = it;
  stage.injected('SessionStart', { source: 'startup' }, 'told-1');
  await stage.turn('/harbour:check weigh the last crate', { session: 'told-1', file: 'src/scale.rs' });
  stage.settle();
  const one = (await stage.api('GET', '/api/sessions')).items.find((each) => each.clientSession === 'told-1');
  await visit(page, 'sessions');
  await page.getByLabel('Filter sessions').fill('last crate');
  await becomes(page, () => page.locator('.row').count(), 1);
  const line = page.locator('.row', { hasText: 'Weigh the last crate' });
  assert.equal(await line.locator('.row-title').textContent(), one.purpose, 'the words of the account, not those of the command');
  await line.getByText('scale.rs').first().waitFor();
  await line.focus();
  await page.keyboard.press('Enter');
  const told = page.locator('mem-injection summary', { hasText: 'At the start' });
  await told.click();
  await page.locator('mem-injection details[open]').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('mem-injection details:not([open])').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('mem-injection[class] details[open] table').first().waitFor();
  const whole = await stage.api('GET', `/api/sessions/${one.id}`);
  assert.equal(await page.locator('mem-injection tbody tr').count(), whole.injections.length);
  await picture(page, 'session-received');
  await page.getByRole('link', { name: '← Sessions' }).click();
  await page.locator('main[data-view="sessions"]').waitFor();
  assert.equal(await page.getByLabel('Filter sessions').inputValue(), 'last crate', 'the list is as it was');
});
