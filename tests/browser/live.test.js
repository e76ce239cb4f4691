// Live updates, and the messages when they are not available.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { card, held, measured, median, picture, staged, visit } from './stage.js';

const stage = staged();
const empty = staged();

test('an empty memory says what to do', async () => {
  const page = await stage.page();
  await page.getByText('No memories yet').waitFor();
  await picture(page, 'empty');
  for (const view of ['sessions', 'context']) {
    await visit(page, view);
    await page.locator('.state-title').waitFor();
  }
  await visit(page, 'dashboard');
  await page.getByText('No data yet.').first().waitFor();
  assert.deepEqual(page.troubles, []);
  await page.context().close();
});

test('the first memory of an empty store is added by hand', async () => {
  const page = await empty.page();
  await page.getByText('You can also add a memory by hand').waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  await page.locator('.toast', { hasText: 'Nothing to export' }).waitFor();
  await page.getByRole('button', { name: 'Add a memory' }).click();
  const dialog = page.getByRole('dialog');
  assert.equal(await dialog.getByLabel('Project', { exact: true }).count(), 0, 'there is no project to choose');
  assert.ok(await dialog.getByRole('checkbox').isChecked(), 'it applies to all projects');
  await dialog.getByRole('textbox').first().fill('Releases leave the harbour on Tuesdays.');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await card(page, 'Releases leave the harbour').waitFor();
  assert.equal(await page.getByText('No memories yet').count(), 0);
  assert.deepEqual(page.troubles, []);
  await page.context().close();
});

test('a hook fires and its memories appear without a reload', async () => {
  const page = await stage.page();
  await page.getByText('No memories yet').waitFor();
  await page.locator('#link[data-up="true"]').waitFor();
  await page.evaluate(() => (window.neverReloaded = true));
  await stage.turn('Stop the crane before it hits the quay');
  await card(page, 'Stop the crane').first().waitFor();
  await page.locator('mem-turn [data-fold="message"]').waitFor();
  await page.locator('mem-turn [data-fold="summary"]').waitFor();
  assert.equal(await page.evaluate(() => window.neverReloaded), true);
  // A project that was not known when the page came.
  await page.locator('#project option', { hasText: 'harbour' }).waitFor({ state: 'attached' });
  // Each of them once, whatever came over the stream twice.
  const handles = await page.locator('mem-card').evaluateAll((cards) => cards.map((one) => one.dataset.handle));
  assert.equal(new Set(handles).size, handles.length);
  await picture(page, 'live');
  assert.deepEqual(page.troubles, []);
  await page.context().close();
});

test('a row stored while the list is loading is not missed', async () => {
  const page = await stage.page();
  await page.locator('#link[data-up="true"]').waitFor();
  await visit(page, 'dashboard');
  const release = await held(page, '**/api/turns*');
  const asked = page.waitForRequest('**/api/turns*');
  const left = page.evaluate(() => (location.hash = '#/feed'));
  await asked;
  await left;
  // The list that is held back was read before this; the session is told of by the same stream.
  const told = page.waitForResponse('**/api/projects');
  await stage.turn('Raise the flag', { session: 'session-2' });
  await told;
  await release();
  await card(page, 'Raise the flag').first().waitFor();
  await page.context().close();
});

test('a stored row reaches the page soon', async () => {
  const page = await stage.page();
  await page.locator('#link[data-up="true"]').waitFor();
  await page.locator('mem-card').first().waitFor();
  await page.evaluate(() => {
    window.arrived = {};
    new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => {
      const title = node.querySelector?.('.card-toggle')?.textContent;
      if (title) window.arrived[title] = performance.timeOrigin + performance.now();
    }))).observe(document.querySelector('.pages'), { childList: true, subtree: true });
  });
  const delays = [];
  for (let n = 0; n < 21; n += 1) {
    const title = `Measured row ${n}`;
    await stage.save({ text: 'A row that is only there to be seen.', title, type: 'discovery' });
    const stored = performance.timeOrigin + performance.now();
    await card(page, title).first().waitFor();
    delays.push((await page.evaluate((name) => window.arrived[name], title)) - stored);
  }
  // Negative: it was on the page before the request that stored it was answered.
  measured('from the answer that a row is stored to its card in the page, p50', `${median(delays).toFixed(1)} ms`);
  await page.context().close();
});

test('a stored row is an event soon', async () => {
  const delays = [];
  const events = stage.events();
  assert.equal((await events.next()).value.name, 'connected');
  for (let n = 0; n < 41; n += 1) {
    const saving = stage.save({ text: 'A row that is only there to be told.', title: `Told row ${n}`, type: 'discovery' });
    for await (const { name, data, at } of { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }) {
      if (name !== 'observation' || data.title !== `Told row ${n}`) continue;
      delays.push(at - data.createdAt);
      break;
    }
    await saving;
  }
  await events.return();
  measured('from the time of a row to its event at the reader, p50', `${median(delays)} ms`);
});

test('a page without a key says how to get one, and a used link says that it is used', async () => {
  const link = stage.link();
  const first = await stage.page({}, link);
  await first.locator('mem-card').first().waitFor();
  assert.ok(!first.url().includes('k='), first.url());
  for (const [name, address] of [['no-key', new URL(link).origin], ['used-link', link]]) {
    const page = await stage.page({}, address);
    await page.getByText('Session expired').waitFor();
    await page.locator('main code', { hasText: 'claude-mem open' }).waitFor();
    assert.equal(await page.locator('#find').isVisible(), false);
    await picture(page, name);
    await page.context().close();
  }
  await first.context().close();
});

test('a worker that ends is missed, and the page says what to do', async () => {
  const page = await stage.page();
  await page.locator('#link[data-up="true"]').waitFor();
  await page.locator('mem-card').first().waitFor();
  stage.mem(['worker', 'stop']);
  await page.locator('.offline', { hasText: 'claude-mem open' }).waitFor();
  assert.ok((await page.locator('mem-card').count()) > 0, 'what was shown stays');
  await picture(page, 'disconnected');
  stage.entered = undefined;
  stage.start();
  // It may come back at another port: then the page stays without it.
  const again = await stage.page();
  await again.locator('mem-card').first().waitFor();
  await page.context().close();
  await again.context().close();
});
