// The other views: sessions, dashboard, context preview, settings, themes.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { becomes, opened, picture, shown, until, visit } from './stage.js';
import { joined, TEAM } from './team.js';

const it = opened(async (stage) => {
  await stage.turn('Light the beacon at dusk', { said: 'The beacon is lit at dusk.' });
  stage.settle();
}, { seed: (stage) => stage.history(400) });
const { stage } = it;
let page;
beforeEach(() => ({ page } = it));

test('a session shows what was asked, done and told', async () => {
  await visit(page, 'sessions');
  await page.locator('.row', { hasText: 'Light the beacon' }).click();
  await page.locator('main[data-view="session"]').waitFor();
  await shown(page);
  await page.locator('h1', { hasText: 'Light the beacon' }).waitFor();
  for (const name of ['Account', 'Timeline']) await page.getByRole('heading', { name }).waitFor();
  assert.ok((await page.locator('mem-card').count()) >= 2);
  await picture(page, 'session');
});

test('the dashboard draws what there is', async () => {
  await visit(page, 'dashboard');
  await page.locator('mem-bars svg rect.s1').first().waitFor();
  assert.equal(await page.locator('.tile').count(), 6);
  const table = page.locator('.chart', { hasText: 'Memories per day' }).locator('tbody tr');
  assert.ok((await table.count()) > 0, 'the figures are there as a table too');
  await picture(page, 'dashboard');
});

const value = async (key) => (await stage.api('GET', '/api/settings')).items.find((item) => item.key === key).value;

test('the preview is what a session would be told, and follows the settings', async () => {
  await visit(page, 'context');
  await page.locator('.lines').waitFor();
  const text = () => page.locator('.lines .line').allTextContents().then((lines) => lines.join('\n'));
  const project = await page.locator('.note strong').textContent();
  const { items } = await stage.api('GET', '/api/projects');
  const { id } = items.find((one) => one.name === project);
  const told = await stage.api('GET', `/api/context/preview?project=${id}`);
  assert.equal(await text(), told.text, 'line by line, to the letter');
  const last = 'Last session';
  assert.ok(told.text.includes(last), told.text);
  await page.getByLabel('The last session').uncheck();
  await until(page, (heading) => !document.querySelector('.lines').textContent.includes(heading), last);
  assert.equal(await value('context_summary'), false);
  await page.getByLabel('The last session').check();
  await until(page, (heading) => document.querySelector('.lines').textContent.includes(heading), last);
  assert.equal(await value('context_summary'), true);
  await page.getByLabel(/^What if the budget/).fill('300');
  await until(page, () => document.querySelector('.meter')?.getAttribute('aria-valuemax') === '300');
  assert.ok((await page.locator('output').textContent()).startsWith('300'));
  assert.notEqual(await value('context_tokens'), 300, 'a what-if is not saved');
  await page.getByRole('button', { name: 'Save this budget' }).click();
  await becomes(page, () => value('context_tokens'), 300);
  await picture(page, 'context');
});

test('settings are checked, kept, explained and reset', async () => {
  await visit(page, 'settings');
  await page.locator('details.advanced').evaluateAll((all) => all.forEach((one) => (one.open = true)));
  const days = page.locator('#set-log_days');
  await days.fill('none');
  await days.press('Tab');
  await page.locator('#set-log_days-problem', { hasText: 'log_days must be' }).waitFor();
  assert.equal(await days.getAttribute('aria-invalid'), 'true');
  await picture(page, 'settings-problem');
  await days.fill('7');
  await days.press('Tab');
  await page.getByRole('button', { name: 'Reset Days to keep logs' }).waitFor();
  assert.equal(await value('log_days'), 7);
  await page.getByRole('button', { name: 'Reset Days to keep logs' }).click();
  await page.getByRole('button', { name: 'Reset Days to keep logs' }).waitFor({ state: 'detached' });
  assert.equal(await value('log_days'), 14);
  assert.equal(await page.locator('#set-vectors').isDisabled(), false, 'no environment configures the worker');
  await page.getByLabel('Find a setting').fill('backup');
  await until(page, () => document.querySelectorAll('.setting:not([hidden])').length === 2);
  await page.getByLabel('Find a setting').fill('');
  const secret = page.locator('#set-api_key');
  await secret.fill('not-a-real-key-0000');
  await secret.press('Tab');
  await page.locator('#set-api_key[placeholder^="is set"]').waitFor();
  assert.ok(!(await page.content()).includes('not-a-real-key-0000'), 'a secret goes in and never out');
});

test('capture can be paused and resumed', async () => {
  await visit(page, 'settings');
  const paused = async () => (await stage.api('GET', '/api/processing-status')).paused;
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.locator('.banner[data-state="paused"]', { hasText: 'Capture is paused' }).waitFor();
  assert.equal(await paused(), true);
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.locator('.banner[data-state="on"]').waitFor();
  assert.equal(await paused(), false);
});

test('the theme is chosen once and stays', async () => {
  const theme = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]);
  const [first, light] = await theme();
  assert.equal(first, 'system');
  await page.locator('#theme').click();
  await page.locator('#theme').click();
  const [chosen, dark] = await theme();
  assert.equal(chosen, 'dark');
  assert.notEqual(dark, light);
  await page.reload();
  await page.locator('mem-card, .tile, .setting').first().waitFor();
  assert.deepEqual(await theme(), ['dark', dark]);
  for (const view of ['feed', 'dashboard', 'settings']) {
    await visit(page, view);
    await page.locator('mem-card, mem-bars svg, .setting').first().waitFor();
    await picture(page, `dark-${view}`);
  }
  await page.locator('#theme').click();
  assert.equal((await theme())[0], 'system');
  assert.deepEqual(page.troubles, []);
});

test('a phone shows all of it without scrolling sideways', async () => {
  const phone = await stage.page({ viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  await phone.locator('mem-card').first().waitFor();
  for (const view of ['feed', 'search?q=beacon', 'sessions', 'sessions/1', 'dashboard', 'context', 'settings']) {
    await visit(phone, view);
    await phone.locator('mem-card, mem-bars svg, .setting, .lines, .row').first().waitFor();
    const [wide, window] = await phone.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= window, `${view} is ${wide} wide`);
    await picture(phone, `phone-${view.replace(/\W.*/, (rest) => (rest.startsWith('/') ? '-one' : ''))}`);
  }
  await phone.context().close();
});

test('the page of the team is there for its members only', async () => {
  await visit(page, 'feed');
  const link = page.locator('.side a[href="#/team"]');
  assert.equal(await link.isVisible(), false);
  await visit(page, 'team');
  await page.locator('.state-title', { hasText: 'No team' }).waitFor();
  await joined(page);
  await page.reload();
  await page.locator('main[data-view="team"]').getByText('In step with the team.').waitFor();
  await link.waitFor();
  const cells = (name) => page.locator(`[aria-label="${name}"] tbody tr`).evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
  assert.deepEqual(await cells('Shared projects'), [['harbour', 'Sends and receives', '214', '1,032', '0'], ['lighthouse', 'Sends after review', '4', '0', '1']]);
  assert.deepEqual((await cells('Members')).map((row) => row[2]), ['You', 'Trusted', 'Left']);
  await page.locator('.row', { hasText: TEAM.review[0].title }).waitFor();
  await picture(page, 'team');
  await page.unroute('**/api/team');
  await joined(page, { inStep: false, error: 'the server cannot be reached' });
  await page.keyboard.press('g');
  await page.keyboard.press('f');
  await page.locator('main[data-view="feed"]').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('t');
  await page.getByText('Not synchronised: the server cannot be reached.').waitFor();
  await page.unroute('**/api/team');
});

test('motion stops where it is not wanted', async () => {
  const still = await stage.page({ reducedMotion: 'reduce' });
  await still.locator('mem-card').first().waitFor();
  const moving = await still.evaluate(() => [...document.querySelectorAll('*')].filter((one) => getComputedStyle(one).animationName !== 'none' || parseFloat(getComputedStyle(one).transitionDuration) > 0).length);
  assert.equal(moving, 0);
  await still.context().close();
});
