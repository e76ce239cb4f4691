// Changing memories: edit, mark, pin, forget and undo, add.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { card, discard, opened, picture, until } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Paint the buoys red');
  stage.settle();
});
const { stage } = it;
let page;
let row;
beforeEach(() => ({ page } = it));

beforeEach(async (context) => {
  row = await stage.save({ text: `Buoys are painted every spring (${context.name}).`, title: `Buoys: ${context.name}`, type: 'discovery' });
  await card(page, `Buoys: ${context.name}`).first().waitFor();
});

const at = (handle) => page.locator(`mem-card[data-handle="${handle}"]`);
const open = async () => {
  await at(row.handle).locator('.card-toggle').click();
  await at(row.handle).locator('.card-body').waitFor();
};
const field = (name) => at(row.handle).locator(`.edit [name="${name}"]`);
const stored = () => stage.api('GET', `/api/observations/${row.id}`);

test('edit', async () => {
  const other = await stage.page();
  await other.locator(`mem-card[data-handle="${row.handle}"]`).waitFor();
  await open();
  await at(row.handle).getByRole('button', { name: 'Edit', exact: true }).click();
  await field('title').fill('Buoys are red on the port side');
  await field('type').selectOption('decision');
  await field('facts').fill('Port is red\nStarboard is green\n\n');
  await field('concepts').fill('buoys, colours');
  await picture(page, 'edit');
  await at(row.handle).getByRole('button', { name: 'Save' }).click();
  await at(row.handle).getByText('Starboard is green').waitFor();
  const now = await stored();
  assert.equal(now.title, 'Buoys are red on the port side');
  assert.equal(now.type, 'decision');
  assert.deepEqual(now.facts, ['Port is red', 'Starboard is green']);
  assert.deepEqual(now.concepts, ['buoys', 'colours']);
  // The other page has it too, once.
  await card(other, 'Buoys are red on the port side').waitFor();
  assert.equal(await other.locator(`mem-card[data-handle="${row.handle}"]`).count(), 1);
  await other.context().close();
});

test('leaving an edit changes nothing', async () => {
  await open();
  await at(row.handle).getByRole('button', { name: 'Edit', exact: true }).click();
  await field('title').fill('never kept');
  await discard(page);
  await at(row.handle).getByRole('button', { name: 'Edit', exact: true }).waitFor();
  assert.equal((await stored()).title, row.title);
});

test('pin and mark as wrong', async () => {
  await open();
  await at(row.handle).getByRole('button', { name: 'Pin', exact: true }).click();
  await at(row.handle).locator('.tag', { hasText: 'pinned' }).waitFor();
  await at(row.handle).getByRole('button', { name: 'Mark as wrong', exact: true }).click();
  await at(row.handle).locator('.tag', { hasText: 'Wrong' }).waitFor();
  const now = await stored();
  assert.deepEqual([now.pinned, now.wrong], [false, true], 'a wrong memory is not pinned');
  await at(row.handle).getByRole('button', { name: 'Mark as correct', exact: true }).click();
  await until(page, (handle) => !document.querySelector(`mem-card[data-handle="${handle}"]`).classList.contains('wrong'), row.handle);
  assert.equal((await stored()).wrong, false);
  const said = page.getByText('Sessions will receive it less often.').waitFor();
  await at(row.handle).getByRole('button', { name: 'Not useful', exact: true }).click();
  await said;
});

test('forget and undo', async () => {
  await open();
  await at(row.handle).getByRole('button', { name: 'Forget', exact: true }).click();
  await at(row.handle).waitFor({ state: 'detached' });
  await assert.rejects(stored(), /404/);
  await picture(page, 'forgotten');
  await page.locator('.toast', { hasText: row.title }).getByRole('button', { name: 'Undo' }).click();
  await at(row.handle).waitFor();
  assert.equal((await stored()).title, row.title);
  assert.equal(await at(row.handle).count(), 1);
});

test('forget elsewhere', async () => {
  await stage.api('DELETE', `/api/observations/${row.id}`);
  await at(row.handle).waitFor({ state: 'detached' });
});

test('add by hand', async () => {
  await page.locator('#add').click();
  await page.getByLabel('Memory', { exact: true }).fill('The fog horn is tested at noon.');
  await page.locator('dialog [name="title"]').fill('Fog horn at noon');
  await page.locator('dialog [name="type"]').selectOption('change');
  await picture(page, 'add');
  await page.locator('dialog').getByRole('button', { name: 'Save' }).click();
  // It may be in the page before the request that saved it is answered.
  await page.locator('dialog').waitFor({ state: 'detached' });
  await card(page, 'Fog horn at noon').first().waitFor();
  assert.equal(await card(page, 'Fog horn at noon').count(), 1);
  assert.deepEqual(page.troubles, []);
});
