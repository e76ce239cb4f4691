// Navigation: Back restores the position, bars cover nothing, everything has a URL.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { becomes, card, focused, opened, picture, shown, until, visit } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Paint the hull', { said: `The hull is grey.\n\nIt took ${'a long '.repeat(80)}while.` });
  stage.settle();
}, { seed: (stage) => stage.history(600) });
const { stage } = it;
let page;
beforeEach(() => ({ page } = it));

/** Scrolls on, each time to the end, until so far is scrolled. */
const scrolled = (far) => page.waitForFunction((y) => {
  scrollTo(0, y);
  return scrollY === y;
}, far);
const place = () => page.evaluate(() => {
  const there = [...document.querySelectorAll('mem-card')].find((one) => one.getBoundingClientRect().top > 120);
  return [there?.dataset.handle, Math.round(there?.getBoundingClientRect().top)];
});
const focus = (selector) => focused(page, selector);

for (const view of ['feed', 'search?kind=observation']) {
  test(`Back leads to where one was: ${view}`, async () => {
    await visit(page, view);
    await page.locator('mem-card').nth(8).waitFor();
    await scrolled(6_000);
    const one = page.locator('mem-card:has(.type:not([data-type="prompt"]))', { hasNot: page.locator('[data-gone]') });
    const [handle] = await becomesSteady();
    const mine = page.locator(`mem-card[data-handle="${handle}"]`);
    await mine.locator('.card-toggle').click();
    await mine.getByText(/^Open session/).waitFor();
    const before = await place();
    await mine.getByText(/^Open session/).click();
    await page.locator('main[data-view="session"]').waitFor();
    await shown(page);
    const saved = await stage.save({ text: 'Seen while one was away.', title: `Away from ${view}`, type: 'decision' });
    await page.goBack();
    await page.locator(`main[data-view="${view.split('?')[0]}"]`).waitFor();
    await becomes(page, place, before);
    assert.equal(await mine.locator('.card-body').count(), 1, 'it is open');
    await focus('a[href^="#/sessions/"]');
    assert.ok((await one.count()) > 0);
    if (view === 'feed') {
      // The row that was stored meanwhile is listed.
      await page.locator('.news').click();
      await focus(`mem-card[data-handle="${saved.handle}"] .card-toggle`);
    }
  });
}

/** The first card in the window, once the cards above it have found their height. */
async function becomesSteady() {
  let last = null;
  let now = await place();
  while (JSON.stringify(last) !== JSON.stringify(now)) {
    last = now;
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    now = await place();
  }
  return now;
}

test('the focused row is below the bar, upwards too', async () => {
  await visit(page, 'feed');
  await page.locator('mem-card').nth(8).waitFor();
  const hidden = () => page.evaluate(() => {
    const one = document.activeElement.closest('mem-card').getBoundingClientRect();
    return [one.top < document.querySelector('.top').getBoundingClientRect().bottom, one.bottom > innerHeight];
  });
  await page.locator('.brand').focus();
  for (const key of [...Array(14).fill('j'), ...Array(13).fill('k')]) {
    await page.keyboard.press(key);
    assert.deepEqual(await hidden(), [false, false], key);
  }
});

test('on a phone nothing with the focus is below its two bars', async () => {
  const phone = await stage.page({ viewport: { width: 360, height: 740 } });
  await phone.locator('mem-card').nth(8).waitFor();
  await phone.locator('.brand').focus();
  for (const key of [...Array(12).fill('j'), ...Array(11).fill('k')]) {
    await phone.keyboard.press(key);
    const [top, bottom, from, to] = await phone.evaluate(() => {
      const one = document.activeElement.closest('mem-card').getBoundingClientRect();
      return [one.top, one.bottom, document.querySelector('.top').getBoundingClientRect().bottom, document.querySelector('.side').getBoundingClientRect().top];
    });
    assert.ok(top >= from && bottom <= to, `${key}: ${top}–${bottom} in ${from}–${to}`);
  }
  await phone.context().close();
});

test('on a phone selected memories and compact rows leave room for the rest', async () => {
  const phone = await stage.page({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  await phone.locator('mem-card').nth(8).waitFor();
  await phone.locator('mem-card .card-toggle').first().focus();
  await phone.keyboard.press('c');
  const heights = await phone.locator('mem-turn:not(:has(.card.open))').evaluateAll((all) => all.map((one) => [one.offsetHeight, one.querySelectorAll('mem-card').length]));
  assert.ok(heights.every(([height, cards]) => height <= 32 * cards), `turns are taller than their rows: ${JSON.stringify(heights)}`);
  const memory = phone.locator('mem-card[data-handle^="#"]').first();
  await memory.locator('.card-toggle').focus();
  await phone.keyboard.press('x');
  const [bottom, top] = await phone.evaluate(() => [document.querySelector('.selection').getBoundingClientRect().bottom, document.querySelector('.side').getBoundingClientRect().top]);
  assert.ok(bottom <= top, `the selection ends at ${bottom}, the views begin at ${top}`);
  await phone.context().close();
});

test('the filters can be reached from everywhere', async () => {
  await visit(page, 'feed');
  await page.getByRole('link', { name: 'Filters' }).click();
  await page.locator('main[data-view="search"] select[name="type"]').waitFor();
  await shown(page);
  await picture(page, 'filters');
});

test('a reply can be read, selected and copied in full', async () => {
  await visit(page, 'feed?kind=message');
  const answer = card(page, 'The hull is grey').first();
  assert.equal(await answer.locator('.card-toggle').textContent(), 'The hull is grey.');
  await answer.locator('.card-toggle').click();
  const text = await answer.locator('.prose').evaluate((one) => {
    getSelection().selectAllChildren(one);
    return String(getSelection());
  });
  assert.match(text, /^The hull is grey\.\s+It took (a long ){80}while\. Changed paint_the_hull in src\/crane\.rs\.$/);
});

test('a memory has an address, and what was told leads to it', async () => {
  await visit(page, 'context');
  const link = page.locator('table a').first();
  await link.waitFor();
  const handle = await link.textContent();
  await link.click();
  await page.locator('main[data-view="memory"] mem-card .card-body').waitFor();
  assert.equal(await page.locator('mem-card').count(), 1);
  assert.equal(await page.locator('mem-card').getAttribute('data-handle'), handle);
});

test('addresses that lead nowhere say so', async () => {
  for (const [hash, view] of [['#/constructor', 'missing'], ['#/toString', 'missing'], ['#/nothing', 'missing'], ['#/sessions/%', 'session'], ['#/memory/nonsense', 'memory']]) {
    await page.evaluate((to) => (location.hash = to), hash);
    await page.locator(`main[data-view="${view}"]`).waitFor();
    await page.locator('mem-card, .state-title, .note code').first().waitFor();
  }
});

test('a chip that is chosen keeps the focus', async () => {
  await visit(page, 'feed');
  await page.locator('.pick', { hasText: 'Decisions' }).focus();
  await page.keyboard.press('Enter');
  await until(page, () => location.hash === '#/feed?type=decision');
  await focus('.pick[aria-current="true"]');
});

test('another question begins at its first answer', async () => {
  await visit(page, 'search?kind=observation');
  await page.locator('mem-card').nth(8).waitFor();
  await scrolled(2_000);
  await page.locator('#find').fill('hull');
  await until(page, () => location.hash.includes('q=hull'));
  await shown(page);
  await until(page, () => scrollY === 0);
});
