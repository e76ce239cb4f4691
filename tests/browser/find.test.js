// Search as you type, with explanations and filters.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { becomes, card, focused, opened, picture, shown, until, visit } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Make the ferry timetable readable', { file: 'src/ferry/timetable.rs', said: 'The ferry timetable is set in columns.' });
  stage.settle();
  await stage.save({ text: 'Tide tables are cached for a day because the gauge is slow.', title: 'Tide tables are cached for a day', type: 'decision', concepts: ['caching'] });
  await stage.save({ text: 'The lock gate retried for ever when the water level was unknown.', title: 'The lock gate no longer retries for ever', type: 'bugfix', concepts: ['retries'] });
  await stage.save({ text: 'Pilots see the berth plan on their tablets.', title: 'Pilots see the berth plan', type: 'feature', concepts: ['tablets'] });
}, { settings: {} });
const { stage } = it;
let page;
beforeEach(() => ({ page } = it));

/** Waits until the first result of the current search contains this text. */
const shows = async (text) => {
  await until(page, (wanted) => document.querySelector('main[data-view="search"] .card-toggle')?.textContent.includes(wanted), text);
  await shown(page);
  assert.ok((await page.locator('.card-toggle').first().textContent()).includes(text));
};

test('results come while one types, best first, and typing goes on', async () => {
  await page.locator('#find').focus();
  await page.keyboard.type('lock ga');
  await shows('The lock gate');
  await page.keyboard.type('te retries');
  await until(page, () => location.hash.includes('gate+retries'));
  await shows('The lock gate');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'find');
  assert.ok((await page.locator('mark').count()) > 0, 'what matched is set apart');
  await picture(page, 'search');
});

test('a result says why it is there', async () => {
  await visit(page, 'search?q=lock+gate+retries');
  await card(page, 'The lock gate').first().locator('.card-toggle').click();
  const why = card(page, 'The lock gate').first().locator('.why');
  await why.locator('summary').click();
  await why.getByText('Words', { exact: true }).waitFor();
  // The words that were typed, not the stems by which they were found.
  await why.getByText(/matched: .*\bretries\b/).waitFor();
  const [parts, score] = await why.evaluate((one) => {
    const figure = (node) => Number(node.textContent);
    return [[...one.querySelectorAll('.bar-row > :last-child')].map(figure), figure(one.querySelector('.score'))];
  });
  assert.ok(parts.length > 0 && parts.every((part) => part !== 0), parts.join());
  // To the rounding of each.
  assert.ok(Math.abs(parts.reduce((sum, part) => sum + part, 0) - score) <= 0.005 * (parts.length + 1), `${parts.join(' + ')} is not ${score}`);
});

test('memories come first, with counts, a snippet and a sentence of why', async () => {
  await visit(page, 'search?q=timetable');
  await page.locator('h2.part').first().waitFor();
  const [memories, said] = await page.locator('h2.part:visible').allTextContents();
  assert.match(memories, /^Memories \d+$/);
  assert.match(said, /^Summaries, prompts and replies \d+$/);
  const counts = await page.locator('mem-list').evaluateAll((lists) => lists.map((list) => list.querySelectorAll('mem-card').length));
  assert.deepEqual([memories, said].map((text) => Number(text.match(/\d+$/)[0])), counts);
  const kinds = await page.locator('mem-card').evaluateAll((all) => all.map((one) => one.row.kind === 'observation'));
  assert.equal(kinds.lastIndexOf(true) < kinds.indexOf(false), true, 'no memory stands below the rest');
  await visit(page, 'search?q=water+level');
  const gate = card(page, 'The lock gate').first();
  // The sentence of the narrative that matches, with the words set apart.
  assert.match(await gate.locator('.lede').textContent(), /water level was unknown/);
  assert.deepEqual(await gate.locator('.lede mark').allTextContents(), ['water', 'level']);
  assert.match(await gate.locator('.reason').textContent(), /^Matches “water”, “level”.*\.$/);
  await picture(page, 'search-snippet');
});

test('filters can be typed, and a preset narrows the time', async () => {
  const titles = () => page.locator('.card-toggle').allTextContents();
  await visit(page, 'feed');
  await page.locator('#find').fill('type:decision day');
  await page.locator('main[data-view="search"]').waitFor();
  await becomes(page, titles, ['Tide tables are cached for a day']);
  await page.locator('#find').fill('file:timetable.rs');
  await until(page, () => { const all = [...document.querySelectorAll('mem-card')]; return location.hash.includes('timetable.rs') && all.length > 0 && all.every((one) => one.textContent.includes('timetable')); });
  await page.locator('#find').fill('after:2001-01-01 before:2001-02-01 tide');
  await page.getByText('No results').waitFor();
  await page.locator('#find').fill('tide');
  await becomes(page, async () => (await titles())[0], 'Tide tables are cached for a day');
  for (const [preset, since] of [['Last 24 hours', '1d'], ['Last 7 days', '7d'], ['Last 30 days', '30d'], ['Last 90 days', '90d']]) {
    const request = page.waitForRequest((one) => one.url().includes('/api/search') && one.url().includes(`since=${since}`));
    await page.locator('select[name="period"]').selectOption({ label: preset });
    await request;
    await until(page, (value) => new URLSearchParams(location.hash.split('?')[1]).get('since') === value, since);
    await shown(page);
    assert.equal((await titles())[0], 'Tide tables are cached for a day', preset);
  }
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until(page, () => location.hash === '#/search?q=tide');
});

test('“Filters” keeps the query', async () => {
  await visit(page, 'feed');
  await page.locator('#find').focus();
  // Typed and not searched for yet.
  await page.evaluate(() => (document.getElementById('find').value = 'berth plan'));
  await page.getByRole('link', { name: 'Filters' }).click();
  await until(page, () => location.hash === '#/search?q=berth+plan');
  await shows('Pilots see the berth plan');
  assert.equal(await page.locator('#find').inputValue(), 'berth plan');
});

test('the progress of the semantic index is told', async () => {
  await page.route('**/api/search?*', async (route) => {
    const found = await (await route.fetch()).json();
    return route.fulfill({ json: { ...found, scope: { ...found.scope, unindexed: 1_234 } } });
  });
  await visit(page, 'search?q=gauge');
  await page.getByText('Not yet searchable by meaning: 1,234 texts. Indexing continues.').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await visit(page, 'search?q=gauge+slow');
  await shows('Tide tables');
});

test('results by meaning alone say so', async () => {
  await page.route('**/api/search?*', async (route) => {
    const found = await (await route.fetch()).json();
    const items = found.items.map((row) => ({ ...row, why: { ...row.why, words: 0, names: 0, vectors: 0.3, matched: [] } }));
    return route.fulfill({ json: { ...found, items } });
  });
  await visit(page, 'search?q=gauge+answer');
  await page.getByText('Nothing matches the words: these are the nearest in meaning.').waitFor();
  await page.unrouteAll({ behavior: 'wait' });
  await visit(page, 'search?q=gauge+cached');
  await page.getByText('Nothing matches the words').waitFor({ state: 'detached' });
});

const clear = async () => {
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await until(page, () => location.hash === '#/search');
  await shown(page);
  await page.locator('mem-card').nth(3).waitFor();
};

test('every filter keeps what fits and nothing else, and keeps the focus', async () => {
  await page.locator('#find').fill('');
  await page.locator('main[data-view="feed"]').waitFor();
  await shown(page);
  await visit(page, 'search');
  const cases = [
    ['select[name="type"]', 'type:decision', ['Tide tables are cached for a day']],
    ['select[name="type"]', 'kind:prompt', ['Make the ferry timetable readable']],
    ['input[name="concept"]', 'tablets', ['Pilots see the berth plan']],
  ];
  for (const [selector, value, expected] of cases) {
    const control = page.locator(selector);
    if (selector.startsWith('select')) await control.selectOption(value);
    else await control.pressSequentially(value);
    await until(page, (wanted) => {
      const found = [...document.querySelectorAll('.card-toggle')].map((one) => one.textContent);
      return JSON.stringify(found) === wanted;
    }, JSON.stringify(expected));
    if (!selector.startsWith('select')) assert.equal(await page.evaluate(() => document.activeElement.name), 'concept');
    await clear();
  }
  await page.locator('input[name="file"]').fill('timetable.rs');
  await until(page, () => { const all = [...document.querySelectorAll('mem-card')]; return all.length > 0 && all.every((one) => one.textContent.includes('timetable')); });
  await clear();
  const today = await page.evaluate(() => new Date().toISOString().slice(0, 10));
  for (const name of ['since', 'until']) {
    await page.locator('select[name="period"]').selectOption('custom');
    await page.locator(`input[name="${name}"]`).fill(today);
    await until(page, (key) => location.hash.includes(`${key}=`), name);
    await shown(page);
    await page.locator('mem-card').nth(3).waitFor();
    await clear();
    await focused(page, 'select[name="type"]', 'the focus does not go with the button');
  }
  await page.locator('select[name="period"]').selectOption('custom');
  await page.locator('input[name="until"]').fill('2001-02-03');
  await page.getByText('No results').waitFor();
  await picture(page, 'nothing-found');
});

test('the project that is chosen narrows the feed, the search and the sessions', async () => {
  const names = () => page.locator('mem-card').evaluateAll((all) => [...new Set(all.map((one) => one.row.project?.name))]);
  await stage.hook('UserPromptSubmit', { prompt: 'Build a ferry', prompt_id: 'yard-1', cwd: `${stage.root}/yard` }, 'yard-1');
  stage.settle();
  await visit(page, 'feed');
  await card(page, 'Build a ferry').first().waitFor();
  await page.locator('#project option', { hasText: 'yard' }).waitFor({ state: 'attached' });
  for (const [project, other] of [['yard', 'harbour'], ['harbour', 'yard']]) {
    await page.locator('#project').selectOption({ label: project });
    await becomes(page, names, [project]);
    await visit(page, 'search?q=ferry');
    await becomes(page, names, [project]);
    await visit(page, 'sessions');
    await page.locator('.row', { hasText: project }).first().waitFor();
    assert.equal(await page.locator('.row .meta', { hasText: other }).count(), 0);
    await visit(page, 'feed');
  }
  await page.locator('#project').selectOption('');
  await card(page, 'Build a ferry').first().waitFor();
});

test('Escape leaves the search field and keeps its text', async () => {
  await page.locator('#find').fill('tide');
  await shows('Tide tables');
  await page.keyboard.press('Escape');
  await until(page, () => document.activeElement === document.body);
  assert.equal(await page.locator('#find').inputValue(), 'tide');
});

test('a search can be gone back to and linked to', async () => {
  await visit(page, 'search?q=tide');
  await shows('Tide tables');
  assert.equal(await page.locator('#find').inputValue(), 'tide');
  await visit(page, 'dashboard');
  await page.goBack();
  await shows('Tide tables');
  assert.equal(await page.locator('#find').inputValue(), 'tide');
  await page.locator('.brand').click();
  await page.locator('main[data-view="feed"]').waitFor();
  await shown(page);
  assert.equal(await page.locator('#find').inputValue(), '');
  await page.locator('mem-card').nth(3).waitFor();
  assert.deepEqual(page.troubles, []);
});
