// The focus is where it is expected, whichever comes first: the key press, the response to it, or an event
// of the stream.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { card, discard, focused, held, opened, shown, until, visit, walk } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Sound the channel');
  stage.settle();
});
const { stage } = it;
let page;
let row;
beforeEach(() => ({ page } = it));

/** Each test has a row of its own, and starts from the brand of the feed. */
beforeEach(async (context) => {
  await visit(page, 'feed');
  row = await stage.save({ text: `The channel is six metres deep (${context.name}).`, title: `Depth: ${context.name}`, type: 'discovery' });
  await its().waitFor();
  await page.locator('.brand').focus();
});

const its = (what = '') => page.locator(`mem-card[data-handle="${row.handle}"] ${what}`);
const of = (type) => page.locator('mem-card', { has: page.locator(`.type[data-type="${type}"]`) }).first();
const focus = (selector, why) => focused(page, selector, why);

async function forget() {
  const act = `mem-card[data-handle="${row.handle}"] [data-act="forget"]`;
  await its('.card-toggle').focus();
  await page.keyboard.press('Enter');
  await its('.card-body').waitFor();
  await walk(page, 'Tab', act);
  await page.keyboard.press('Enter');
  await its().waitFor({ state: 'detached' });
}

async function undo() {
  await page.locator('.toast').waitFor();
  await page.keyboard.press('u');
  await its().waitFor();
  await focus(`mem-card[data-handle="${row.handle}"] .card-toggle`);
}

test('forgetting the last row moves the focus to the view', async () => {
  row = await stage.save({ text: 'Depths are in metres.', title: 'Depths are in metres', type: 'decision' });
  await visit(page, 'feed?type=decision');
  await forget();
  await focus('main');
  await undo();
});

test('a row that the stream removes before the response can be restored', async () => {
  const release = await held(page, '**/api/memory/bulk', 'POST');
  await forget();
  await focus('.card-toggle');
  assert.equal(await page.locator('.toast').count(), 0, 'it is not answered yet');
  await release();
  await undo();
});

test('a change that arrives twice is drawn once', async () => {
  const drawn = (change) => its().evaluate((one, edit) => {
    const toggle = one.querySelector('.card-toggle');
    one.update({ ...one.row, ...edit });
    return !toggle.isConnected;
  }, change);
  assert.equal(await drawn({}), false);
  assert.equal(await drawn({ updatedAt: row.updatedAt + 1 }), false);
  assert.equal(await drawn({ pinned: true }), true);
  assert.equal(await drawn({ pinned: true }), false);
});

async function session() {
  const { items } = await stage.api('GET', '/api/sessions');
  await visit(page, `sessions/${items[0].id}`);
}

test('new rows do not move the focus', async () => {
  await session();
  const asked = of('prompt').locator('.card-toggle');
  await asked.focus();
  const id = await asked.getAttribute('id');
  await asked.evaluate((one) => (one.dataset.old = ''));
  await stage.turn('Sound it again');
  await card(page, 'Sound it again').first().waitFor();
  await focus(`#${id}[data-old]`);
});

test('open details stay open when the view is drawn again', async () => {
  await session();
  await of('change').locator('.card-toggle').click();
  await stage.turn('Sound it by night');
  await card(page, 'Sound it by night').first().waitFor();
  await of('change').locator('.card-body').waitFor();
});

const title = () => page.locator('.edit [name="title"]');

async function write() {
  await of('change').locator('[data-act="edit"]').click();
  await title().fill('half a sent');
}

async function leave() {
  await focus('.edit [name="title"]');
  assert.equal(await title().inputValue(), 'half a sent');
  await discard(page);
  await title().waitFor({ state: 'detached' });
}

test('new rows do not disturb a form', async () => {
  await session();
  await of('change').locator('.card-toggle').click();
  await write();
  await stage.turn('Sound it once more');
  await card(page, 'Sound it once more').first().waitFor();
  await leave();
});

test('written text stays while the view is loading', async () => {
  await session();
  await of('change').locator('.card-toggle').click();
  const release = await held(page, '**/api/sessions/*');
  const asked = page.waitForRequest('**/api/sessions/*');
  await stage.turn('Sound it in the rain');
  await asked;
  await write();
  await release();
  await leave();
  await stage.turn('Sound it in the fog');
  await card(page, 'Sound it in the fog').first().waitFor();
});

test('a view that takes its time gets the focus', async () => {
  const release = await held(page, '**/api/stats');
  await page.locator('.card-toggle').first().focus();
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.locator('main > .state[aria-busy]').waitFor();
  await release();
  await page.locator('main[data-view="dashboard"] .tile').first().waitFor();
  await focus('main');
});

test('a late response does not move the focus back', async () => {
  const release = await held(page, '**/api/stats');
  await page.locator('.card-toggle').first().focus();
  await page.keyboard.press('g');
  await page.keyboard.press('d');
  await page.locator('main > .state[aria-busy]').waitFor();
  await page.keyboard.press('/');
  await focus('#find');
  await release();
  await page.locator('main[data-view="dashboard"] .tile').first().waitFor();
  await focus('#find');
});

test('Enter in the search waits for what was typed', async () => {
  const release = await held(page, '**/api/search?*');
  await page.keyboard.press('/');
  await page.keyboard.type('what was typed');
  await page.keyboard.press('Enter');
  await until(page, () => location.hash.endsWith('q=what+was+typed'));
  await focus('#find');
  await release();
  await focus(`mem-card[data-handle="${row.handle}"] .card-toggle`);
});

test('a dialog that is asked for twice opens once', async () => {
  const release = await held(page, '**/api/projects');
  await page.reload();
  await shown(page);
  await page.keyboard.press('a');
  await page.keyboard.press('a');
  assert.equal(await page.locator('dialog').count(), 0, 'it needs the projects');
  await release();
  await focus('dialog textarea');
  assert.equal(await page.locator('dialog').count(), 1);
  await page.keyboard.press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
});
