// The feed is a list of turns: prompt, memories, and the rest on demand.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becomes, card, focused, opened, picture, revisit, shown, until, visit, walk } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Paint the pier green', { said: 'The pier is green now.' });
  stage.settle();
  for (let n = 0; n < 24; n += 1) await stage.save({ text: `Plank ${n} of the pier is new.`, title: `Plank ${n} is new`, type: 'change' });
});
const turn = (text) => it.page.locator('mem-turn', { hasText: text }).first();

test('a turn says its prompt once, with its memories below and the rest folded', async () => {
  const one = turn('Paint the pier green');
  await one.locator('mem-card.quiet', { hasText: 'Paint the pier green' }).waitFor();
  const kinds = await one.locator('mem-card').evaluateAll((all) => all.map((card) => card.row.kind));
  assert.equal(kinds[0], 'prompt', 'the prompt is the first line');
  assert.ok(!kinds.includes('summary') && !kinds.includes('message'), kinds.join());
  await one.getByRole('button', { name: 'Agent reply' }).click();
  await one.getByText('The pier is green now.').first().waitFor();
  await one.getByRole('button', { name: 'Agent reply' }).click();
  await becomes(it.page, () => one.locator('mem-card').count(), kinds.length);
});

test('the folds and the session of a turn are reached with the keyboard', async () => {
  const handle = await turn('Paint the pier green').getAttribute('data-handle');
  const its = (what) => `mem-turn[data-handle="${handle}"] ${what}`;
  await it.page.locator(its('.card-toggle')).first().focus();
  await walk(it.page, 'Tab', its('[data-fold="summary"]'));
  await it.page.keyboard.press('Enter');
  await it.page.locator(its('[data-fold="summary"][aria-expanded="true"]')).waitFor();
  await focused(it.page, its('[data-fold="summary"]'), 'the focus stays on the fold');
  await it.page.keyboard.press('Enter');
  await it.page.locator(its('[data-fold="summary"][aria-expanded="false"]')).waitFor();
  await walk(it.page, 'Tab', its('.turn-foot a'));
  await it.page.keyboard.press('Enter');
  await it.page.locator('main[data-view="session"] .target').waitFor();
  await focused(it.page, '.target *', 'the turn has the focus');
  await visit(it.page, 'feed');
});

test('a summary that only repeats the prompt is not offered, and another is called by what it says', async () => {
  const { page } = it;
  const summaries = async (change) => {
    await page.route('**/api/turns?*', async (route) => {
      const found = await (await route.fetch()).json();
      for (const row of found.items.flatMap((one) => one.rows)) if (row.kind === 'summary') Object.assign(row, change);
      return route.fulfill({ json: found });
    });
    await revisit(page, 'feed');
    await turn('Paint the pier green').locator('[data-fold="message"]').waitFor();
  };
  await summaries({ completed: null, learned: null, investigated: null, notes: null, nextSteps: null });
  assert.equal(await page.locator('[data-fold="summary"]').count(), 0);
  await page.unrouteAll({ behavior: 'wait' });
  await summaries({ completed: 'Two coats of green paint.' });
  await turn('Paint the pier green').locator('[data-fold="summary"]').click();
  await turn('Paint the pier green').locator('.card-toggle', { hasText: 'Two coats of green paint.' }).waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await revisit(page, 'feed');
});

test('a running turn is visible from its first event, with its tool calls', async () => {
  const { stage, page } = it;
  await stage.hook('SessionStart', { source: 'startup' }, 'busy');
  await stage.hook('UserPromptSubmit', { prompt: 'Count the planks', prompt_id: 'busy-1' }, 'busy');
  const running = page.locator('.running-turn', { hasText: 'Count the planks' });
  await running.locator('.working').waitFor();
  for (let n = 0; n < 2; n += 1) await stage.hook('PostToolUse', { tool_name: 'Read', tool_use_id: `busy-${n}`, tool_input: { file_path: `${stage.project}/a${n}` }, tool_response: {} }, 'busy');
  await running.getByText('Working, 2 tool calls').waitFor();
  await picture(page, 'running-turn');
  await stage.hook('Stop', { last_assistant_message: 'There are 24 planks on the pier.', prompt_id: 'busy-1' }, 'busy');
  await running.waitFor({ state: 'detached' });
  await turn('Count the planks').waitFor();
});

test('compact rows: twenty or more in a window of 1440 by 900', async () => {
  const { page } = it;
  await page.setViewportSize({ width: 1440, height: 900 });
  const rows = () => page.locator('mem-card').evaluateAll((all) => all.filter((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    return top > 60 && bottom <= innerHeight;
  }).length);
  const before = await rows();
  await page.locator('.brand').focus();
  await page.keyboard.press('c');
  await until(page, () => document.documentElement.dataset.density === 'compact');
  const after = await rows();
  assert.ok(after >= 20 && after > before, `${after} rows, ${before} before`);
  await picture(page, 'compact');
  await page.locator('#density').click();
  await becomes(page, rows, before, 'and back');
});

test('a change of one memory leaves the rest of its turn as it is', async () => {
  const { page, stage } = it;
  const [memory] = (await stage.api('GET', '/api/observations?limit=1')).items;
  const shown = card(page, memory.title).first();
  await shown.locator('.card-toggle').click();
  await shown.locator('[data-act="pin"]').click();
  await shown.locator('.tag', { hasText: 'Pinned' }).waitFor();
  await page.locator('.toast', { hasText: 'Pinned' }).waitFor();
  await page.keyboard.press('u');
  await shown.locator('.tag', { hasText: 'Pinned' }).waitFor({ state: 'detached' });
  assert.equal((await stage.api('GET', `/api/observations/${memory.id}`)).pinned, false);
});

test('a turn that left only its prompt takes one line, and its foot can be pressed', async () => {
  const { page, stage } = it;
  await stage.hook('UserPromptSubmit', { prompt: 'Is the pier dry?', prompt_id: 'dry-1' }, 'dry');
  await stage.hook('Stop', { last_assistant_message: 'Not yet, wait until noon.', prompt_id: 'dry-1' }, 'dry');
  stage.settle();
  await revisit(page, 'feed');
  const dry = turn('Is the pier dry?');
  const reply = dry.locator('[data-fold="message"]');
  await reply.waitFor();
  const tops = await dry.evaluate((one) => ['.card-toggle', '.turn-foot', '.when'].map((part) => one.querySelector(part).getBoundingClientRect()).map(({ top, bottom }) => Math.round((top + bottom) / 20)));
  assert.equal(new Set(tops).size, 1, `not on one line: ${tops}`);
  await reply.click();
  await dry.locator('mem-card', { hasText: 'Not yet' }).waitFor();
  await reply.click();
  // Elsewhere in the line the prompt opens.
  await dry.locator('.when').first().click({ force: true });
  await dry.locator('.card-toggle[aria-expanded="true"]').waitFor();
  await dry.locator('.card-toggle').click();
});

test('the only project and the only agent are not named on every row, from the first paint on', async () => {
  const { page, stage } = it;
  await visit(page, 'feed');
  const name = page.locator('.project-name').first();
  const agent = page.locator('.turn-foot .agent').first();
  for (const one of [name, agent]) await one.waitFor({ state: 'hidden' });
  await page.reload();
  await page.locator('mem-card').first().waitFor();
  for (const one of [name, agent]) assert.equal(await one.isVisible(), false);
  await stage.hook('UserPromptSubmit', { prompt: 'Build a ferry', prompt_id: 'yard-1', cwd: `${stage.root}/yard` }, 'yard-1');
  stage.settle();
  await page.locator('#project option', { hasText: 'yard' }).waitFor({ state: 'attached' });
  await name.waitFor();
  // Nor is the chosen one.
  await page.locator('#project').selectOption({ label: 'harbour' });
  await shown(page);
  await name.waitFor({ state: 'hidden' });
  await page.locator('#project').selectOption('');
  await shown(page);
  await name.waitFor();
});

test('a line that goes on from the title says so', async () => {
  const { page, stage } = it;
  await stage.save({ text: 'The old pier was paved with granite.', title: 'The old pier was paved', type: 'change' });
  await stage.save({ text: 'The new pier was paved. Granite was used.', title: 'The new pier was paved', type: 'change' });
  await visit(page, 'feed?type=change');
  const lede = async (title) => card(page, title).locator('.lede').textContent();
  assert.equal(await lede('The old pier'), '…with granite.');
  assert.equal(await lede('The new pier'), 'Granite was used.');
});

test('emphasis is set as emphasis, and the stars of paths stay', async () => {
  const { page, stage } = it;
  const row = await stage.save({ text: 'Raise it to **`0.2.0`** in **each manifest**; `src/**` and lib/**/a.rs, test/**/b.rs stay.', title: 'The version was raised', type: 'change' });
  await visit(page, `memory/${encodeURIComponent(row.handle)}`);
  const prose = page.locator('mem-card .prose');
  await prose.waitFor();
  assert.equal(await prose.textContent(), 'Raise it to 0.2.0 in each manifest; src/** and lib/**/a.rs, test/**/b.rs stay.');
  assert.deepEqual(await prose.locator('strong').allTextContents(), ['0.2.0', 'each manifest']);
  assert.deepEqual(await prose.locator('code').allTextContents(), ['0.2.0', 'src/**']);
});
