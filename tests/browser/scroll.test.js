// A long history loads immediately, and only its visible part is in the document.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becomes, focused, measured, median, PATIENCE_MS, picture, staged, until } from './stage.js';

const ROWS = 10_000;
/** A window's worth above and below, and the pages that these are part of. */
const CARDS_MAX = 400;

const stage = staged(undefined, { seed: (stage) => stage.history(ROWS) });

const cards = (page) => page.locator('mem-card').count();
const handles = (page) => page.locator('mem-card').evaluateAll((all) => all.map((one) => one.dataset.handle));

/** Pages that were given back are asked for again as they are now: what is gone is gone, and what
 *  stands there is in order and there once. */
async function backUp(page) {
  /** The cards of the first turns, as they stand: summaries and replies are folded. */
  const feed = async () => (await stage.api('GET', '/api/turns?limit=200')).items.flatMap(({ rows }) => ['prompt', 'observation'].flatMap((kind) => rows.filter((row) => row.kind === kind)));
  const gone = (await feed()).slice(50, 150).find((row) => row.kind === 'observation');
  await stage.api('DELETE', `/api/observations/${gone.id}`);
  const order = (await feed()).map((row) => row.handle);
  const wanted = order.slice(60, 80);
  await until(page, (some) => {
    const there = [...document.querySelectorAll('mem-card')].map((one) => one.dataset.handle);
    if (some.every((one) => there.includes(one))) return true;
    scrollTo(0, scrollY > 20_000 ? 16_000 : scrollY - innerHeight / 2);
    return false;
  }, wanted);
  const there = (await handles(page)).filter((one) => order.includes(one));
  assert.equal(new Set(there).size, there.length);
  assert.deepEqual(there, order.slice(order.indexOf(there[0])).slice(0, there.length));
}

test('scrolling to the end shows every row once and keeps the page small', async () => {
  const page = await stage.page();
  await page.locator('mem-card').first().waitFor();
  const first = (await handles(page))[0];
  const { counts } = await stage.api('GET', '/api/stats');
  // Summaries and replies are folded into their turns.
  const all = counts.observations + counts.prompts;
  // Collected as they are put in, since they are taken out again.
  await page.evaluate(() => {
    window.seen = new Map();
    window.most = 0;
    window.twice = 0;
    const note = (one) => window.seen.set(one.dataset.handle, (window.seen.get(one.dataset.handle) ?? 0) + 1);
    document.querySelectorAll('mem-card').forEach(note);
    new MutationObserver((changes) => {
      changes.forEach((change) => change.addedNodes.forEach((node) => {
        if (node.matches?.('mem-card')) note(node);
        else node.querySelectorAll?.('mem-card').forEach(note);
      }));
      const all = [...document.querySelectorAll('mem-card')].map((one) => one.dataset.handle);
      window.most = Math.max(window.most, all.length);
      window.twice = Math.max(window.twice, all.length - new Set(all).size);
    }).observe(document.querySelector('.pages'), { childList: true, subtree: true });
  });
  const began = performance.now();
  // Asked at every frame: each time down to the end, until there is no more.
  await until(page, () => {
    scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector('.list-over');
  }, null, { timeout: 10 * PATIENCE_MS });
  measured(`scrolling through ${all} rows`, `${((performance.now() - began) / 1000).toFixed(1)} s`);
  const [seen, most, twice] = await page.evaluate(() => [window.seen.size, window.most, window.twice]);
  assert.equal(seen, all);
  assert.equal(twice, 0, 'none stands there twice');
  assert.ok(most <= CARDS_MAX, `${most} cards at once`);
  measured('cards in the page at most', most);
  await picture(page, 'long-end');
  await backUp(page);
  await page.evaluate(() => scrollTo(0, 0));
  await until(page, (handle) => document.querySelector('mem-card')?.dataset.handle === handle, first);
  assert.ok((await cards(page)) <= CARDS_MAX);
  assert.deepEqual(page.troubles, []);
  await page.context().close();
});

test('rows that arrive above do not move the page', async () => {
  const page = await stage.page();
  await page.locator('#link[data-up="true"]').waitFor();
  await page.locator('mem-card').nth(30).waitFor();
  await page.evaluate(() => scrollTo(0, 3_000));
  await until(page, () => scrollY > 2_000);
  const place = () => page.evaluate(() => {
    const there = [...document.querySelectorAll('mem-card')].find((one) => one.getBoundingClientRect().top > 120);
    return [there.dataset.handle, Math.round(there.getBoundingClientRect().top)];
  });
  const before = await place();
  await stage.api('POST', '/api/memory/save', { text: 'Something new while one reads.', global: true });
  await page.locator('.news', { hasText: '1 new' }).waitFor();
  // The browser adjusts the scroll position for rows inserted above with the next frame.
  await becomes(page, async () => {
    const [handle, top] = await place();
    // To the rounding of a pixel.
    return [handle, Math.abs(top - before[1]) <= 1];
  }, [before[0], true]);
  await picture(page, 'news');
  await page.locator('.news').click();
  await page.locator('mem-card', { hasText: 'Something new while one reads' }).waitFor();
  await until(page, () => scrollY === 0);
  await focused(page, 'mem-turn .card-toggle', 'what is new has the focus');
  assert.match(await page.evaluate(() => document.activeElement.textContent), /Something new while one reads/);
  await page.context().close();
});

test('the page is light and loads quickly', async () => {
  const page = await stage.page();
  await page.locator('mem-card').first().waitFor();
  const times = [];
  let weight = 0;
  for (let n = 0; n < 9; n += 1) {
    await page.reload();
    await page.locator('mem-card').first().waitFor();
    const [loaded, bytes] = await page.evaluate(() => {
      const [there] = performance.getEntriesByType('navigation');
      const files = performance.getEntriesByType('resource').filter((one) => one.name.includes('/assets/'));
      return [there.domContentLoadedEventEnd, there.decodedBodySize + files.reduce((sum, one) => sum + one.decodedBodySize, 0)];
    });
    times.push(loaded);
    weight = bytes;
  }
  measured('page and modules loaded, p50', `${median(times).toFixed(0)} ms`);
  measured('page weight', `${(weight / 1024).toFixed(0)} KB`);
  assert.ok(weight > 0 && weight <= 256 * 1024);
  await page.context().close();
});
