// Where a memory comes from, how it changed, and correcting many of them: panel, review, selection, trash.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becomes, card, focused, opened, picture, until, visit, walk } from './stage.js';

let decision;
const it = opened(async (stage) => {
  await stage.turn('From now on always moor the ferry at the north berth', { said: 'The ferry is moored at the north berth.' });
  stage.settle();
  decision = await stage.save({ text: 'Ferries moor at the south berth.', title: 'Ferries moor at the south berth', type: 'decision' });
  await stage.save({ text: 'Ferries moor at the east berth.', title: 'Ferries moor at the east berth now', type: 'decision' });
  for (const end of ['', ' every day']) await stage.save({ text: `The harbour light is lit at dusk${end}.`, title: `The harbour light is always lit at dusk${end}`, type: 'discovery' });
  for (let n = 0; n < 4; n += 1) await stage.save({ text: `Buoy ${n} was counted.`, title: `Buoy ${n} was counted`, type: 'change' });
  await stage.api('POST', '/api/context/inject', { project: 'harbour', sessionId: 'reader-1' });
});
const row = (handle) => it.page.locator(`mem-card[data-handle="${handle}"]`);

test('the panel quotes the source and leads to its turn', async () => {
  const { page, stage } = it;
  const { items } = await stage.api('GET', '/api/observations?limit=50');
  const made = items.find((one) => one.session && one.promptNumber > 0);
  await row(made.handle).locator('.card-toggle').click();
  await row(made.handle).locator('[data-act="history"]').click();
  const panel = page.locator('.panel');
  await panel.locator('blockquote').first().waitFor();
  const { sources, near } = await stage.api('GET', `/api/observations/${made.id}/provenance`);
  assert.ok(sources.length > 0);
  assert.equal(await panel.locator('blockquote').count(), sources.length);
  assert.equal(await panel.locator('.near a').count() >= near.length, true);
  await picture(page, 'panel');
  // The clock of a memory may be before that of its prompt: the prompt comes first all the same.
  await page.route('**/api/sessions/*', async (route) => {
    const whole = await (await route.fetch()).json();
    whole.observations.forEach((one) => (one.createdAt = whole.session.createdAt - 1_000));
    return route.fulfill({ json: whole });
  });
  await panel.getByRole('link', { name: /^Open session, turn/ }).first().click();
  await page.locator('main[data-view="session"] .target').waitFor();
  assert.match(await page.locator('.target').getAttribute('data-handle'), /^P/);
  await page.unroute('**/api/sessions/*');
  assert.equal(await page.locator('.panel').count(), 0, 'it goes with the view');
  await page.goBack();
  await page.locator('main[data-view="feed"]').waitFor();
});

test('the panel shows use, replacements and edits as a difference', async () => {
  const { page, stage } = it;
  await stage.api('PATCH', `/api/observations/${decision.id}`, { narrative: 'Ferries moor at the west berth.' });
  const newer = (await stage.api('GET', '/api/observations?type=decision&limit=10')).items.find((one) => one.title.includes('east'));
  await stage.api('POST', `/api/observations/${decision.id}/replace`, { by: newer.handle });
  await row(decision.handle).locator('.card-toggle').focus();
  await page.keyboard.press('i');
  const panel = page.locator('.panel');
  await panel.locator('del', { hasText: 'south' }).waitFor();
  await panel.locator('ins', { hasText: 'west' }).waitFor();
  await panel.getByRole('heading', { name: 'Replaced by' }).waitFor();
  await panel.getByText(/Shown 1 time/).waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await focused(page, `mem-card[data-handle="${decision.handle}"] *`, 'the focus comes back');
  // The mark of a replaced memory leads to the one that took its place.
  await row(decision.handle).locator('.tag a').click();
  await page.locator('main[data-view="memory"]').waitFor();
  assert.equal(await page.locator('mem-card').getAttribute('data-handle'), newer.handle);
  // Its own page tells its story without a panel, and the day.
  await page.locator('.story').getByRole('heading', { name: 'Replaces' }).waitFor();
  await page.locator('.story a', { hasText: decision.title }).first().waitFor();
  await page.locator('.story').getByRole('heading', { name: 'Use' }).waitFor();
  assert.equal(await page.getByText('End of list').count(), 0);
  await picture(page, 'memory');
  await visit(page, 'memory/%239999');
  await page.getByText('There is no #9999').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'it would not help');
  await visit(page, 'feed');
});

test('review: keep, replace and forget, each with undo', async () => {
  const { page, stage } = it;
  await visit(page, 'review');
  const replaced = page.locator('#review-replaced .review-item', { hasText: decision.handle });
  await replaced.getByRole('button', { name: 'Keep both' }).click();
  await replaced.waitFor({ state: 'detached' });
  assert.equal((await stage.api('GET', `/api/observations/${decision.id}`)).replacedBy, null);
  const twin = page.locator('#review-duplicate .review-item').first();
  await twin.getByRole('button', { name: 'Replace with…' }).click();
  await page.locator('dialog .pick-row').first().waitFor();
  await picture(page, 'review-replace');
  await page.keyboard.press('Escape');
  await twin.getByRole('button', { name: /^Replace with #/ }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.toast', { hasText: 'Replaced' }).waitFor();
  await page.locator('#review-duplicate').waitFor({ state: 'detached' });
  await page.keyboard.press('u');
  await page.locator('#review-duplicate .review-item').first().waitFor();
  await page.locator('#review-duplicate [data-act="forget"]').first().click();
  await page.locator('.toast', { hasText: 'Forgot' }).waitFor();
  await page.keyboard.press('u');
  await page.locator('#review-duplicate .review-item').first().waitFor();
});

test('several at once: x, a range by shift and click, forget, undo', async () => {
  const { page, stage } = it;
  await visit(page, 'feed?type=change');
  const toggles = page.locator('mem-card .card-toggle', { hasText: 'was counted' });
  await toggles.first().focus();
  await page.keyboard.press('x');
  await page.locator('.selection', { hasText: '1 memory selected' }).waitFor();
  await toggles.nth(2).click({ modifiers: ['Shift'] });
  await page.locator('.selection', { hasText: '3 memories selected' }).waitFor();
  await picture(page, 'selection');
  await page.locator('.selection [data-act="pin"]').click();
  await becomes(page, async () => (await stage.api('GET', '/api/observations?pinned=true')).items.length, 3);
  await page.locator('.toast', { hasText: 'Pinned: 3 memories' }).waitFor();
  await page.keyboard.press('u');
  await becomes(page, async () => (await stage.api('GET', '/api/observations?pinned=true')).items.length, 0);
  for (const n of [0, 1, 2]) {
    await toggles.nth(n).focus();
    await page.keyboard.press('x');
  }
  await walk(page, 'Tab', '.selection [data-act="forget"]', 80);
  await page.keyboard.press('Enter');
  await becomes(page, () => toggles.count(), 1);
  await visit(page, 'trash');
  assert.equal(await page.locator('.row', { hasText: 'was counted' }).count(), 3);
  await page.locator('.row', { hasText: 'was counted' }).first().getByRole('button', { name: 'Restore' }).click();
  await becomes(page, () => page.locator('.row', { hasText: 'was counted' }).count(), 2);
  assert.equal((await stage.api('GET', '/api/trash')).items.length, 2);
});

test('forgetting offers the other rows of the turn', async () => {
  const { page, stage } = it;
  await visit(page, 'feed');
  const made = (await stage.api('GET', '/api/observations?limit=50')).items.find((one) => one.session && one.promptNumber > 0);
  await row(made.handle).locator('.card-toggle').focus();
  await page.keyboard.press('Delete');
  await row(made.handle).waitFor({ state: 'detached' });
  await page.locator('.toast [data-act="siblings"]').click();
  await page.locator('dialog').getByRole('button', { name: 'Forget selected' }).click();
  await page.locator('.toast', { hasText: 'more of the turn.' }).waitFor();
  const handles = async () => (await stage.api('GET', '/api/trash')).items.map((one) => one.handle);
  assert.ok((await handles()).includes(made.handle));
  assert.ok((await handles()).some((handle) => /^[SPM]/.test(handle)));
  await page.keyboard.press('u');
  await row(made.handle).waitFor();
  await until(page, () => document.querySelector('mem-turn[data-handle^="T"] mem-card.quiet'));
  await becomes(page, async () => (await handles()).some((handle) => /^[SPM]/.test(handle)), false, 'all of it is back');
});

test('every mark can be undone, and a mark is not set twice', async () => {
  const { page, stage } = it;
  const one = card(page, 'Ferries moor at the east').first();
  const stored = async () => (await stage.api('GET', '/api/observations?type=decision&limit=10')).items.find((each) => each.title.includes('east'));
  await one.locator('.card-toggle').click();
  await one.locator('[data-act="useless"]').click();
  await one.locator('[data-act="useless"]:disabled').waitFor();
  const entries = async () => (await stage.api('GET', `/api/ledger?row=${encodeURIComponent((await stored()).handle)}`)).items.filter((entry) => entry.signal === 'useless').length;
  assert.equal(await entries(), 1);
  await page.keyboard.press('u');
  await one.locator('[data-act="useless"]:not(:disabled)').waitFor();
  assert.equal(await entries(), 0);
  await one.locator('.card-toggle').focus();
  await page.keyboard.press('w');
  await one.locator('.tag', { hasText: 'Wrong' }).waitFor();
  await page.locator('.toast', { hasText: 'Marked as wrong' }).waitFor();
  await page.keyboard.press('u');
  await one.locator('.tag', { hasText: 'Wrong' }).waitFor({ state: 'detached' });
  assert.equal((await stored()).wrong, false);
});
