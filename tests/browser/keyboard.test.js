// Everything can be done without a mouse.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { card, Stage, until } from './stage.js';

const stage = new Stage({ CLAUDE_MEM_VECTORS: 'off' });
let page;

before(async () => {
  stage.start();
  await stage.turn('Count the gulls');
  stage.settle();
  await stage.save({ text: 'Gulls are counted from the pier.', title: 'Gulls are counted from the pier', type: 'decision' });
  page = await stage.page();
  await card(page, 'Gulls are counted').first().waitFor();
});
after(() => stage.close());

const focus = (what) => page.evaluate((selector) => document.activeElement.matches(selector), what);
const press = (...keys) => keys.reduce((last, key) => last.then(() => page.keyboard.press(key)), Promise.resolve());

test('the first stop leads past the frame', async () => {
  await press('Tab');
  assert.ok(await focus('.skip'));
  await press('Enter');
  assert.ok(await focus('main'));
});

test('every control shows that it has the focus', async () => {
  await page.evaluate(() => document.activeElement.blur());
  const bare = [];
  for (let n = 0; n < 24; n += 1) {
    await press('Tab');
    const shown = await page.evaluate(() => {
      const one = document.activeElement;
      const ring = (style) => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
      return one === document.body || ring(getComputedStyle(one)) || ring(getComputedStyle(one, '::after')) || one.matches('.skip') ? '' : one.outerHTML.slice(0, 80);
    });
    if (shown) bare.push(shown);
  }
  assert.deepEqual(bare, []);
});

test('walk, open, edit and forget', async () => {
  await page.locator('.brand').focus();
  await press('j');
  assert.ok(await focus('.card-toggle'));
  const gulls = card(page, 'Gulls are counted').first();
  while (!(await gulls.locator('.card-toggle').evaluate((one) => one === document.activeElement))) await press('j');
  await press('Enter');
  await gulls.locator('.card-body').waitFor();
  while (!(await focus('[data-act="edit"]'))) await press('Tab');
  await press('Enter');
  assert.ok(await focus('input[name="title"]'));
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Gulls are counted at dawn');
  await press('Enter');
  const dawn = card(page, 'Gulls are counted at dawn').first();
  await dawn.locator('[data-act="edit"]').waitFor();
  assert.ok(await focus('[data-act="edit"]'), 'the focus comes back to where it was');
  while (!(await focus('[data-act="forget"]'))) await press('Tab');
  await press('Enter');
  await dawn.waitFor({ state: 'detached' });
  assert.ok(await focus('.card-toggle'), 'the focus goes to a neighbour');
  while (!(await focus('.toast button'))) await press('Tab');
  await press('Enter');
  await dawn.waitFor();
  await until(page, () => document.activeElement.closest('mem-card')?.textContent.includes('at dawn'));
});

test('letters lead everywhere', async () => {
  for (const [letter, view] of [['s', 'sessions'], ['d', 'dashboard'], ['n', 'next'], ['e', 'settings'], ['f', 'feed']]) {
    await press('g', letter);
    await page.locator(`main[data-view="${view}"]`).waitFor();
  }
  await page.locator('mem-card').first().waitFor();
  await press('/');
  assert.ok(await focus('#find'));
  await page.keyboard.type('gulls');
  await page.locator('main[data-view="search"] mem-card').first().waitFor();
  await press('Enter');
  assert.ok(await focus('.card-toggle'));
  await press('Enter', 'Escape');
  assert.equal(await page.locator('.card-body').count(), 0);
});

test('dialogs hold the focus and give it back', async () => {
  await page.locator('.brand').focus();
  await press('?');
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
  await press('Escape');
  assert.equal(await page.locator('dialog').count(), 0);
  await press('a');
  await page.locator('dialog textarea').waitFor();
  assert.ok(await focus('dialog textarea'));
  for (let n = 0; n < 12; n += 1) {
    await press('Tab');
    assert.ok(await focus('dialog *, body'), 'nothing behind it is reached');
  }
  await press('Escape');
  assert.ok(await focus('.brand'));
  assert.deepEqual(page.troubles, []);
});
