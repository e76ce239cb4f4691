// Many tabs, background tabs, and the updates that they receive when shown again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becomes, card, staged, visit } from './stage.js';

/** A browser gives one address six connections. */
const TABS = 8;
const stage = staged(async (stage) => {
  await stage.turn('Ring the bell');
  stage.settle();
});

/** As when another tab is chosen, or this one again. */
const hide = (page, is) => page.evaluate((hidden) => {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}, is);
const isUp = (page, state = 'true') => page.locator(`#link[data-up="${state}"]`).waitFor();

test('eight tabs of one browser are all live when they are looked at', async () => {
  const context = await stage.context();
  const tabs = [];
  for (let n = 0; n < TABS; n += 1) {
    const tab = await stage.tab(context);
    await isUp(tab);
    await card(tab, 'Ring the bell').first().waitFor();
    tabs.push(tab);
    if (n < TABS - 1) await hide(tab, true);
  }
  // They fall asleep after a few seconds, all at about the same time.
  for (const tab of tabs.slice(0, -1)) await isUp(tab, 'asleep');
  // The last one can still ask for anything.
  await visit(tabs.at(-1), 'dashboard');
  await tabs.at(-1).locator('.tile').first().waitFor();
  await stage.save({ text: 'The bell is rung at noon.', title: 'Rung at noon', type: 'decision' });
  const [first] = tabs;
  assert.equal(await card(first, 'Rung at noon').count(), 0, 'nobody looks at it');
  await hide(first, false);
  await isUp(first);
  await card(first, 'Rung at noon').first().waitFor();
  assert.deepEqual(tabs.flatMap((tab) => tab.troubles), []);
  await context.close();
});

test('a link opens in a new tab, by the mouse and by the keyboard', async () => {
  const context = await stage.context();
  const page = await stage.tab(context);
  await isUp(page);
  const link = page.locator('.turn-foot a').first();
  const ways = [() => link.click({ modifiers: ['Control'] }), () => link.click({ button: 'middle' }), () => link.press('Control+Enter')];
  for (const open of ways) {
    const [tab] = await Promise.all([context.waitForEvent('page'), open()]);
    await tab.locator('main[data-view="session"] mem-card', { hasText: 'Ring the bell' }).first().waitFor();
    assert.equal(await page.locator('main').getAttribute('data-view'), 'feed', 'the first tab stays where it is');
    await tab.close();
  }
  await context.close();
});

test('a glance at another tab costs nothing', async () => {
  const page = await stage.page();
  await isUp(page);
  let streams = 0;
  page.on('request', (request) => (streams += request.url().endsWith('/stream') ? 1 : 0));
  await hide(page, true);
  await hide(page, false);
  await stage.save({ text: 'The bell is bronze.', title: 'Bronze', type: 'discovery' });
  await card(page, 'Bronze').first().waitFor();
  assert.equal(streams, 0);
  await page.context().close();
});

test('a hidden tab says that it is there: the worker ends when nobody is', async () => {
  const context = await stage.context();
  const page = await stage.tab(context, stage.link(), (one) => one.clock.install());
  await isUp(page);
  await hide(page, true);
  await page.clock.runFor(3_000);
  await isUp(page, 'asleep');
  const said = page.waitForRequest('**/api/version');
  await page.clock.runFor(60_000);
  await said;
  await context.close();
});

test('a page that reconnects gets the rows it missed, also many', async () => {
  const page = await stage.page();
  await isUp(page);
  await hide(page, true);
  await isUp(page, 'asleep');
  const strike = (n) => stage.save({ text: `Stroke ${n} of the bell.`, title: `Stroke ${n}`, type: 'change' });
  for (let n = 0; n < 209; n += 11) await Promise.all(Array.from({ length: 11 }, (_, more) => strike(n + more)));
  await strike(209);
  await hide(page, false);
  await card(page, 'Stroke 209').first().waitFor();
  const handles = () => page.locator('mem-card').evaluateAll((all) => all.map((one) => one.dataset.handle));
  await becomes(page, async () => new Set(await handles()).size - (await handles()).length, 0);
  await page.context().close();
});

test('too many open pages are reported', async () => {
  const page = await stage.tab(await stage.context(), stage.link(), (one) => one.route('**/stream', (route) => route.fulfill({ status: 503, json: { error: 'too many pages are open', hint: 'Close some.' } })));
  await page.locator('.offline', { hasText: 'too many pages are open. Close some.' }).waitFor();
  // It is said once, however often it is tried again.
  await page.locator('.offline').evaluate((one) => (one.dataset.first = ''));
  await page.waitForRequest('**/stream');
  await page.waitForRequest('**/stream');
  assert.equal(await page.locator('.offline[data-first]').count(), 1);
  await page.context().close();
});

test('a key that is taken back locks the page, but not before what is written is safe', async () => {
  const page = await stage.page();
  await isUp(page);
  const { handle } = await stage.save({ text: 'The bell hangs in the tower.', title: 'In the tower', type: 'discovery' });
  const one = page.locator(`mem-card[data-handle="${handle}"]`);
  await one.locator('.card-toggle').click();
  await one.locator('[data-act="edit"]').click();
  await one.locator('[name="narrative"]').fill('half a sentence');
  await page.route('**/stream', (route) => route.fulfill({ status: 401, json: { error: 'no key', hint: '' } }));
  await hide(page, true);
  await isUp(page, 'asleep');
  await hide(page, false);
  await page.locator('.offline', { hasText: 'Session expired' }).waitFor();
  assert.equal(await one.locator('[name="narrative"]').inputValue(), 'half a sentence');
  await page.keyboard.press('Escape');
  await page.locator('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByText('Session expired').waitFor();
  await page.keyboard.press('a');
  assert.equal(await page.locator('dialog').count(), 0, 'a page without a key does nothing');
  await page.context().close();
});
