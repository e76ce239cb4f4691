// Every action works with the keyboard alone.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { becomes, card, focused, opened, shown, until, visit, walk } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Count the gulls');
  stage.settle();
  await stage.save({ text: 'Gulls are counted from the pier.', title: 'Gulls are counted from the pier', type: 'decision' });
});
const { stage } = it;
let page;
beforeEach(() => ({ page } = it));

const focus = (selector, why) => focused(page, selector, why);
const press = (...keys) => keys.reduce((last, key) => last.then(() => page.keyboard.press(key)), Promise.resolve());

test('the first stop leads past the frame', async () => {
  await press('Tab');
  await focus('.skip');
  await press('Enter');
  await focus('main');
});

test('few keys lead to the first row of the feed, and arrows through the chips', async () => {
  await visit(page, 'feed');
  await page.locator('.card-toggle').first().waitFor();
  await page.evaluate(() => document.activeElement.blur());
  await page.locator('.skip').focus();
  await press('Enter');
  await focus('main');
  // The chips, Export, density, the first row.
  await walk(page, 'Tab', '.card-toggle', 4);
  await walk(page, 'Shift+Tab', '.pick', 3);
  await focus('.pick[aria-current="true"]', 'the stop is the current chip');
  await press('ArrowRight');
  await focus('.pick[href="#/feed?type=decision"]');
  await press('End');
  await focus('.pick[href="#/feed?marked=wrong"]');
  await press('ArrowRight');
  await focus('.pick[href="#/feed"]', 'around the end');
  await press('ArrowLeft', 'Home', 'ArrowRight', 'Enter');
  await until(page, () => location.hash === '#/feed?type=decision');
  await shown(page);
  await visit(page, 'feed');
});

test('past the frame is not out of the view', async () => {
  await visit(page, 'sessions');
  await page.locator('.skip').focus();
  await press('Enter');
  await focus('main');
  await page.locator('main[data-view="sessions"] .row').first().waitFor();
  await walk(page, 'Tab', '.row', 4);
  assert.equal(await page.evaluate(() => location.hash), '#/sessions');
  await visit(page, 'feed');
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
  const gulls = card(page, 'Gulls are counted').first();
  const handle = await gulls.getAttribute('data-handle');
  const its = (what) => `mem-card[data-handle="${handle}"] ${what}`;
  await page.locator('.brand').focus();
  await press('j');
  await focus('.card-toggle');
  await walk(page, 'j', its('.card-toggle'));
  await press('Enter');
  await gulls.locator('.card-body').waitFor();
  await walk(page, 'Tab', its('[data-act="edit"]'));
  await press('Enter');
  await focus(its('input[name="title"]'));
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('Gulls are counted at dawn');
  await press('Enter');
  const dawn = card(page, 'Gulls are counted at dawn').first();
  await dawn.locator('[data-act="edit"]').waitFor();
  await focus(its('[data-act="edit"]'), 'the focus comes back to where it was');
  await walk(page, 'Tab', its('[data-act="forget"]'));
  await press('Enter');
  await dawn.waitFor({ state: 'detached' });
  await focus('.card-toggle', 'the focus goes to a neighbour');
  await page.locator('.toast').waitFor();
  await press('u');
  await dawn.waitFor();
  await focus(`${its('')}, ${its('*')}`, 'the focus goes to what is back');
});

test('letters lead everywhere', async () => {
  for (const [letter, view] of [['s', 'sessions'], ['d', 'dashboard'], ['c', 'context'], ['e', 'settings'], ['f', 'feed']]) {
    await press('g', letter);
    await page.locator(`main[data-view="${view}"]`).waitFor();
    await shown(page);
  }
  await page.locator('mem-card').first().waitFor();
  await press('/');
  await focus('#find');
  await page.keyboard.type('gulls');
  // Pressed at once: the search runs first, then its first result gets the focus.
  await press('Enter');
  await focus('main[data-view="search"] .card-toggle');
  await until(page, () => location.hash.endsWith('q=gulls'));
  await press('Enter');
  await page.locator('.card-body').waitFor();
  await press('Escape');
  await page.locator('.card-body').waitFor({ state: 'detached' });
});

test('forgotten rows are restored, and the focus stays in the list', async () => {
  for (const title of ['Terns nest on the mole', 'Terns leave in September']) {
    const row = await stage.save({ text: `${title}.`, title, type: 'discovery' });
    await stage.api('DELETE', `/api/observations/${row.id}`);
  }
  await visit(page, 'trash');
  const rows = page.locator('.row', { hasText: 'Terns' });
  await rows.nth(1).waitFor();
  await page.locator('.skip').focus();
  await press('Enter');
  await walk(page, 'Tab', '.row button', 4);
  await press('Enter');
  await becomes(page, () => rows.count(), 1);
  await focus('.row button', 'the row that took its place');
  await press('Enter');
  await page.getByText('The trash is empty').waitFor();
  await focus('main');
  await visit(page, 'feed');
  await card(page, 'Terns nest on the mole').waitFor();
});

test('dialogs hold the focus and give it back', async () => {
  const dialog = page.locator('dialog');
  await page.locator('.brand').focus();
  await press('?');
  await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
  await press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await focus('.brand');
  await press('a');
  await focus('dialog textarea');
  for (let n = 0; n < 12; n += 1) {
    await press('Tab');
    await focus('dialog *, body', 'nothing behind it is reached');
  }
  await press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await focus('.brand');
  assert.deepEqual(page.troubles, []);
});
