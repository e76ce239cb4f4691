// Undo of forgetting: from every view, by button and by key, back to the original position.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { becomes, card, failing, focused, opened, revisit, visit } from './stage.js';

const ROWS = 90;
const it = opened(async (stage) => {
  await stage.turn('Grease the winch', { said: 'The winch runs quietly.' });
  stage.settle();
  for (let n = 0; n < ROWS; n += 1) await stage.save({ text: `Winch ${'turns '.repeat(1 + (n % 7))} at dawn, number ${n}.`, title: `Winch ${n}`, type: 'discovery' });
}, { seed: (stage) => stage.history(200) });
const { stage } = it;
let page;
beforeEach(() => ({ page } = it));

const handles = () => page.locator('mem-card').evaluateAll((all) => all.map((one) => one.dataset.handle));
const at = (handle) => page.locator(`mem-card[data-handle="${handle}"]`);
const toast = () => page.locator('.toast', { hasText: 'Forgot' });

/** Opens it and forgets it by keys alone. */
async function forget(handle) {
  await at(handle).locator('.card-toggle').focus();
  await page.keyboard.press('Enter');
  await at(handle).locator('[data-act="forget"]').focus();
  await page.keyboard.press('Enter');
  await at(handle).waitFor({ state: 'detached' });
  await toast().first().waitFor();
}

async function back(handle) {
  await at(handle).waitFor();
  await focused(page, `mem-card[data-handle="${handle}"] .card-toggle`);
}

for (const view of ['feed', 'feed?type=discovery', 'search?q=winch', 'search?q=winch&kind=observation']) {
  test(`a restored row returns to its place: ${view}`, async () => {
    await visit(page, view);
    await page.locator('mem-card').nth(8).waitFor();
    for (const n of [4, 0]) {
      const before = (await handles()).slice(0, 8);
      await forget(before[n]);
      await page.keyboard.press('u');
      await back(before[n]);
      await becomes(page, async () => (await handles()).slice(0, 8), before);
      await toast().waitFor({ state: 'detached' });
    }
  });
}

test('so it does in a session, whatever its kind', async () => {
  const { items } = await stage.api('GET', '/api/sessions');
  const { id } = items.find((one) => one.title === 'Grease the winch');
  await visit(page, `sessions/${id}`);
  await card(page, 'The winch runs quietly').first().waitFor();
  const before = await handles();
  for (const letter of ['#', 'S', 'P', 'M']) {
    const handle = before.find((one) => one.startsWith(letter));
    assert.ok(handle, `${letter} in ${before}`);
    await forget(handle);
    await focused(page, '.card-toggle', 'the focus goes to a neighbour');
    await page.keyboard.press('u');
    await back(handle);
    await becomes(page, handles, before);
  }
});

test('an undo that fails can be tried again', async () => {
  await visit(page, 'feed');
  const [handle] = await handles();
  await forget(handle);
  const heal = await failing(page, '**/api/memory/bulk', 'POST');
  await toast().getByRole('button', { name: 'Undo' }).click();
  await toast().getByText('the disk is full').waitFor();
  await heal();
  await toast().getByRole('button', { name: 'Undo' }).click();
  await back(handle);
});

test('several can be taken back one after the other, with one message at a time', async () => {
  await visit(page, 'feed');
  const before = (await handles()).slice(0, 7);
  const gone = before.slice(0, 5);
  for (const handle of gone) await forget(handle);
  assert.equal(await toast().count(), 1, 'messages do not pile up over the page');
  for (const handle of gone.reverse()) {
    // The message about the row forgotten before comes back.
    await toast().getByText(`--undo '${handle}'`).waitFor();
    await page.keyboard.press('u');
    await back(handle);
  }
  await toast().waitFor({ state: 'detached' });
  await becomes(page, async () => (await handles()).slice(0, 7), before);
});

test('the newest way back stays until it is closed', async () => {
  const context = await stage.context();
  const other = await stage.tab(context, stage.link(), (one) => one.clock.install());
  const first = other.locator('mem-card').first();
  const handle = await first.getAttribute('data-handle');
  await first.locator('.card-toggle').click();
  await first.locator('[data-act="forget"]').click();
  const said = other.locator('.toast', { hasText: `claude-mem forget --undo '${handle}'` });
  await said.waitFor();
  await other.clock.runFor(120_000);
  assert.equal(await said.count(), 1);
  await said.getByRole('button', { name: 'Close' }).click();
  await said.waitFor({ state: 'detached' });
  await other.keyboard.press('u');
  await other.locator(`mem-card[data-handle="${handle}"]`).waitFor();
  await context.close();
});

test('messages come before the list in the order of the page', async () => {
  const order = await page.evaluate(() => document.getElementById('toasts').compareDocumentPosition(document.getElementById('main')) & Node.DOCUMENT_POSITION_FOLLOWING);
  assert.ok(order > 0);
});

test('a change among results stays when they are drawn again', async () => {
  await visit(page, 'search?q=winch&kind=observation');
  await page.locator('mem-card').nth(8).waitFor();
  const [handle] = await handles();
  await at(handle).locator('.card-toggle').click();
  await at(handle).locator('[data-act="edit"]').click();
  await at(handle).locator('[name="title"]').fill('Winch, corrected');
  await at(handle).getByRole('button', { name: 'Save' }).click();
  await at(handle).locator('[data-act="pin"]').click();
  await at(handle).locator('.tag', { hasText: 'pinned' }).waitFor();
  await page.locator('#find').focus();
  // Down to the end, so that its card is given back, and up again.
  await page.waitForFunction((one) => {
    scrollTo(0, document.documentElement.scrollHeight);
    return !document.querySelector(`mem-card[data-handle="${one}"]`);
  }, handle);
  await page.waitForFunction((one) => {
    scrollTo(0, 0);
    return document.querySelector(`mem-card[data-handle="${one}"]`);
  }, handle);
  assert.equal(await at(handle).locator('.card-toggle').textContent(), 'Winch, corrected');
  assert.equal(await at(handle).locator('.tag', { hasText: 'pinned' }).count(), 1);
  // A change made elsewhere arrives here, too.
  await stage.api('PATCH', `/api/observations/${handle.slice(1)}`, { title: 'Winch, corrected twice' });
  await at(handle).getByText('Winch, corrected twice').waitFor();
});

test('nothing is passed over when some of the results go', async () => {
  await revisit(page, 'search?q=winch&kind=observation');
  await page.locator('mem-card').nth(8).waitFor();
  const found = await stage.api('GET', '/api/search?query=winch&kind=observation&allProjects=true&limit=200');
  const all = found.items.map((one) => one.handle);
  const [forgotten, wrong] = await handles();
  await forget(forgotten);
  await at(wrong).locator('.card-toggle').click();
  await at(wrong).locator('[data-act="wrong"]').click();
  await at(wrong).locator('.tag', { hasText: 'Wrong' }).waitFor();
  await page.evaluate(() => {
    window.met = new Set();
    document.activeElement.blur();
  });
  await page.waitForFunction(() => {
    document.querySelectorAll('mem-card').forEach((one) => window.met.add(one.dataset.handle));
    scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector('.list-over');
  });
  const met = await page.evaluate(() => [...window.met]);
  assert.deepEqual(all.filter((one) => one !== forgotten && !met.includes(one)), []);
  // A memory marked as wrong can be found again.
  await visit(page, 'feed?marked=wrong');
  await becomes(page, handles, [wrong]);
  await visit(page, 'search?q=winch&wrong=true');
  await at(wrong).locator('.card-toggle').click();
  await at(wrong).getByRole('button', { name: 'Mark as correct' }).click();
  await at(wrong).locator('.tag', { hasText: 'Wrong' }).waitFor({ state: 'detached' });
});
