// Unsaved text is never lost without a warning.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { card, discard, focused, opened, shown, until, visit } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Mend the nets');
  stage.settle();
});
const { stage } = it;
let page;
let row;
beforeEach(() => ({ page } = it));

beforeEach(async (context) => {
  await visit(page, 'feed');
  row = await stage.save({ text: `Nets are mended in winter (${context.name}).`, title: `Nets: ${context.name}`, type: 'discovery' });
  await its().waitFor();
});

const its = (what = '') => page.locator(`mem-card[data-handle="${row.handle}"] ${what}`);
const narrative = () => its('.edit [name="narrative"]');
const stored = () => stage.api('GET', `/api/observations/${row.id}`);
const question = () => page.locator('dialog', { hasText: 'Discard what you wrote?' });
const answer = async (name) => {
  await question().getByRole('button', { name }).click();
  await question().waitFor({ state: 'detached' });
};

async function write(text = 'half a sentence') {
  await its('.card-toggle').click();
  await its('[data-act="edit"]').click();
  await narrative().fill(text);
}

test('Escape asks first, and only where something was written', async () => {
  await write();
  await page.keyboard.press('Escape');
  await answer('Keep writing');
  assert.equal(await narrative().inputValue(), 'half a sentence');
  await focused(page, '.edit [name="narrative"]');
  await discard(page);
  await its('[data-act="edit"]').click();
  await page.keyboard.press('Escape');
  await its('.edit').waitFor({ state: 'detached' });
  assert.equal((await stored()).narrative, row.narrative);
});

test('Escape that ends a composition is not ours', async () => {
  await write();
  await narrative().evaluate((one) => one.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', isComposing: true, bubbles: true, cancelable: true })));
  assert.equal(await question().count(), 0);
  await narrative().evaluate((one) => one.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true, cancelable: true })));
  await answer('Discard');
});

test('a link, a key, the search, the project and Back ask first', async () => {
  await visit(page, 'sessions');
  await visit(page, 'feed');
  await its().waitFor();
  await write();
  const ways = [
    () => page.locator('.side a[href="#/dashboard"]').click(),
    () => page.locator('#find').fill('nets'),
    () => page.locator('#project').selectOption({ index: 1 }),
    () => page.goBack(),
  ];
  for (const way of ways) {
    await way();
    await answer('Keep writing');
    assert.equal(await narrative().inputValue(), 'half a sentence');
    await until(page, () => location.hash === '#/feed');
  }
  assert.equal(await page.locator('#project').inputValue(), '');
  await page.locator('.side a[href="#/dashboard"]').click();
  await answer('Discard');
  await page.locator('main[data-view="dashboard"]').waitFor();
  assert.equal((await stored()).narrative, row.narrative);
  await page.locator('#find').fill('');
});

test('the browser asks before the page itself is left', async () => {
  // Checks the handler that makes the browser ask; the question itself cannot be answered in a test.
  const asks = () => page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
  assert.equal(await asks(), false);
  await write();
  assert.equal(await asks(), true);
  await discard(page);
  assert.equal(await asks(), false);
});

test('a memory forgotten elsewhere stays while it is edited', async () => {
  await write();
  await stage.api('DELETE', `/api/observations/${row.id}`);
  // The stream is in order: when the later event has arrived, so has this one.
  await stage.save({ text: 'A later one.', title: 'A later one', type: 'change' });
  await card(page, 'A later one').first().waitFor();
  assert.equal(await narrative().inputValue(), 'half a sentence');
  await narrative().focus();
  await discard(page);
  await its().waitFor({ state: 'detached' });
});

test('a list that has to be asked for anew waits for whoever writes', async () => {
  await write();
  const asked = page.waitForRequest('**/api/turns*');
  await page.evaluate(() => document.querySelector('mem-list').reload());
  assert.equal(await narrative().inputValue(), 'half a sentence');
  await narrative().focus();
  await discard(page);
  await asked;
  await its().waitFor();
});

test('untouched fields are not sent', async () => {
  await stage.api('PATCH', `/api/observations/${row.id}`, { concepts: ['nets, mended'], facts: ['one\ntwo'] });
  await its('.meta', { hasText: 'nets, mended' }).first().waitFor();
  await write('all of it');
  await stage.api('PATCH', `/api/observations/${row.id}`, { subtitle: 'from elsewhere' });
  await its('.edit').getByRole('button', { name: 'Save' }).click();
  await its('.edit').waitFor({ state: 'detached' });
  const now = await stored();
  assert.deepEqual([now.narrative, now.subtitle, now.concepts, now.facts], ['all of it', 'from elsewhere', ['nets, mended'], ['one\ntwo']]);
});

test('a memory that is being added is not thrown away by Escape', async () => {
  await page.locator('#add').click();
  await page.getByLabel('Memory', { exact: true }).fill('half a thought');
  await page.keyboard.press('Escape');
  await answer('Keep writing');
  assert.equal(await page.getByLabel('Memory', { exact: true }).inputValue(), 'half a thought');
  await page.locator('dialog').getByRole('button', { name: 'Cancel' }).click();
  await answer('Discard');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await shown(page);
});
