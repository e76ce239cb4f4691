// Memories of other members of the team.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { card, opened, visit } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Make the ferry timetable readable', { file: 'src/ferry/timetable.rs', said: 'The ferry timetable is set in columns.' });
  stage.settle();
  await stage.save({ text: 'Ferries moor at the east quay.', title: 'Ferries moor at the east quay', type: 'decision' });
}, { settings: {} });
let page;
beforeEach(() => ({ page } = it));

/** The answer as if a colleague had recorded its memories. */
const ofColleague = (value) => {
  if (Array.isArray(value)) return value.map(ofColleague);
  if (!value || typeof value !== 'object') return value;
  const fields = Object.fromEntries(Object.entries(value).map(([name, one]) => [name, ofColleague(one)]));
  return value.kind === 'observation' ? { ...fields, who: 'Mira Sato', heldBack: true, origin: 'user' } : fields;
};

test('a colleague’s memory names its author, is not mine, and cannot be changed', async () => {
  await page.route('**/api/search?*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: ofColleague(await response.json()) });
  });
  await visit(page, 'search?q=ferries+quay');
  const found = card(page, 'Ferries moor').first();
  assert.equal(await found.locator('.who').textContent(), 'Mira Sato', 'before it is opened');
  await found.getByText('Not offered to agents').waitFor();
  await found.locator('.card-toggle').click();
  await found.getByText('Recorded by Mira Sato').waitFor();
  assert.equal(await found.getByText('You said this').count(), 0);
  for (const act of ['edit', 'pin']) assert.equal(await found.locator(`[data-act="${act}"]`).count(), 0, act);
  await found.locator('[data-act="forget"]').waitFor();
});
