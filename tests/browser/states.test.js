// The page with errors, large amounts of data and unusual environments.

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { becomes, card, exported, failing, focused, held, opened, revisit, shown, until, visit } from './stage.js';

const it = opened(async (stage) => {
  await stage.turn('Tar the planks', { said: 'The planks are tarred.' });
  stage.settle();
}, { seed: (stage) => stage.history(300) });
const { stage } = it;
let page;
beforeEach(() => ({ page } = it));

const handles = () => page.locator('mem-card').evaluateAll((all) => all.map((one) => one.dataset.handle));

test('a list that could not be had says why, and can be asked for again', async () => {
  await visit(page, 'dashboard');
  const heal = await failing(page, '**/api/turns*');
  await visit(page, 'feed');
  await page.locator('.failed', { hasText: 'the disk is full' }).waitFor();
  // A row that arrives meanwhile does not replace the error.
  await stage.save({ text: 'Tar is black.', title: 'Tar is black', type: 'discovery' });
  await page.locator('.failed').getByText('Make room.').waitFor();
  assert.equal(await page.locator('.list-over').count(), 0);
  await heal();
  await page.getByRole('button', { name: 'Try again' }).click();
  await card(page, 'Tar is black').first().waitFor();
  assert.equal(await page.locator('.failed').count(), 0);
});

test('running turns and concepts that could not be loaded say so', async () => {
  await visit(page, 'dashboard');
  const heal = await failing(page, '**/api/running');
  await visit(page, 'feed');
  await page.locator('.running', { hasText: 'the disk is full' }).waitFor();
  await heal();
  // Without a worker the bar above says so, once.
  await page.route('**/api/running', (route) => route.abort());
  await stage.hook('UserPromptSubmit', { prompt: 'Scrub the deck', prompt_id: 'deck-1' }, 'deck');
  await becomes(page, () => page.locator('.running').textContent(), '');
  await page.unroute('**/api/running');
  await stage.hook('Stop', { last_assistant_message: 'It is clean.', prompt_id: 'deck-1' }, 'deck');
  await visit(page, 'search?q=planks');
  const healConcepts = await failing(page, '**/api/observations?*');
  await page.locator('[name="concept"]').focus();
  await page.locator('.toast', { hasText: 'Concepts could not be loaded: the disk is full' }).waitFor();
  await healConcepts();
});

test('a view that could not be had says why, and can be asked for again', async () => {
  const heal = await failing(page, '**/api/stats');
  await visit(page, 'dashboard');
  await page.locator('.failed', { hasText: 'the disk is full' }).waitFor();
  await heal();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.tile').first().waitFor();
});

test('a page of the list that could not be had is asked for where it is missed', async () => {
  await visit(page, 'feed');
  await page.locator('mem-card').first().waitFor();
  const heal = await failing(page, '**/api/turns?*before=*');
  await until(page, () => {
    scrollTo(0, document.documentElement.scrollHeight);
    return document.querySelector('.list-end .failed');
  });
  const before = await handles();
  await stage.save({ text: 'Tar smells.', title: 'Tar smells', type: 'discovery' });
  await heal();
  await page.getByRole('button', { name: 'Try again' }).click();
  await until(page, (last) => [...document.querySelectorAll('mem-card')].at(-1).dataset.handle !== last, before.at(-1));
  await page.evaluate(() => scrollTo(0, 0));
  await card(page, 'Tar smells').first().waitFor();
});

test('a control shows what was kept, not what was tried', async () => {
  await visit(page, 'context');
  const box = page.getByLabel('The last session');
  await box.waitFor();
  const was = await box.isChecked();
  const heal = await failing(page, '**/api/settings', 'PATCH');
  await box.click();
  await page.locator('.toast', { hasText: 'the disk is full' }).waitFor();
  assert.equal(await box.isChecked(), was);
  await visit(page, 'settings');
  const other = page.locator('#set-context_summary');
  await other.click();
  await page.locator('#set-context_summary-problem', { hasText: 'the disk is full' }).waitFor();
  assert.equal(await other.isChecked(), was);
  await heal();
});

test('only one line of the preview is read out', async () => {
  await visit(page, 'context');
  await page.locator('.lines').waitFor();
  assert.equal(await page.locator('main [aria-live], main [role="status"]').count(), 1);
  assert.match(await page.locator('main [role="status"]').textContent(), /of [\d,]+ tokens/);
});

test('“More” pressed twice brings each session once, and the focus goes on', async () => {
  const all = Array.from({ length: 45 }, (_, n) => n);
  for (const n of all) await stage.hook('UserPromptSubmit', { prompt: `Plank ${n}`, prompt_id: `plank-${n}` }, `plank-${n}`);
  stage.settle();
  await revisit(page, 'sessions');
  await until(page, () => document.querySelectorAll('.row').length === 40);
  const more = page.getByRole('button', { name: 'More' });
  await more.focus();
  await more.evaluate((one) => { one.click(); one.click(); });
  await more.waitFor({ state: 'hidden' });
  const links = await page.locator('a.row').evaluateAll((some) => some.map((one) => one.getAttribute('href')));
  assert.equal(new Set(links).size, links.length);
  const { items } = await stage.api('GET', '/api/sessions?limit=200');
  assert.equal(links.length, items.length);
  await focused(page, 'a.row');
});

test('a dialog keeps its margins in a small window', async () => {
  const small = await stage.page({ viewport: { width: 420, height: 420 } });
  await small.locator('mem-card').first().waitFor();
  await small.keyboard.press('?');
  const box = await small.locator('dialog').evaluate((one) => {
    const { left, right, top, bottom } = one.getBoundingClientRect();
    const inner = one.querySelector('.keys').getBoundingClientRect();
    return { outer: [left, innerWidth - right, top, innerHeight - bottom], inner: [inner.left - left, right - inner.right] };
  });
  assert.ok(box.outer.every((side) => side >= 8), `outside: ${box.outer}`);
  assert.ok(box.inner.every((side) => side >= 12), `inside: ${box.inner}`);
  assert.equal(await small.locator('dialog').evaluate((one) => one.scrollTop), 0, 'a long dialog begins at its top');
  await small.context().close();
});

test('“Loading…” can be read at every moment of its animation', async () => {
  for (const colorScheme of ['light', 'dark']) {
    const slow = await stage.page({ colorScheme });
    await slow.locator('mem-card').first().waitFor();
    const release = await held(slow, '**/api/stats');
    await slow.evaluate(() => (location.hash = '#/dashboard'));
    const text = slow.locator('main > .state .pulse');
    await text.waitFor();
    const least = await text.evaluate((one) => {
      const [pulse] = one.getAnimations().filter((each) => each.animationName === 'pulse');
      const luminance = (rgb) => rgb.map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
      const parts = (colour) => colour.match(/[\d.]+/g).slice(0, 3).map(Number);
      const ground = parts(getComputedStyle(document.body).backgroundColor);
      const ratios = [0, 0.5, 1].map((share) => {
        pulse.pause();
        const { delay, duration } = pulse.effect.getComputedTiming();
        pulse.currentTime = delay + share * duration * 0.999;
        const { color, opacity } = getComputedStyle(one);
        const seen = parts(color).map((part, at) => part * opacity + ground[at] * (1 - opacity));
        const [light, dark] = [luminance(seen), luminance(ground)].sort((a, b) => b - a);
        return (light + 0.05) / (dark + 0.05);
      });
      return Math.min(...ratios);
    });
    assert.ok(least >= 4.5, `${colorScheme}: ${least.toFixed(2)}`);
    await release();
    await slow.context().close();
  }
});

test('the rows of the feed can be exported', async () => {
  await visit(page, 'feed');
  await page.locator('mem-card').nth(5).waitFor();
  const handles = () => page.evaluate(() => document.querySelector('mem-list').rows().flatMap((turn) => turn.rows.map((row) => row.handle)));
  const before = await handles();
  const rows = await exported(page, page.locator('[data-act="export-list"]'));
  // The next page of the list may arrive at any time.
  const after = await handles();
  assert.ok(rows.length >= before.length);
  assert.deepEqual(rows.map((row) => row.handle), after.slice(0, rows.length));
  assert.ok(rows.length > 5 && rows.every((row) => row.kind && row.createdAt), 'whole rows');
});

test('letters can be switched off', async () => {
  await visit(page, 'feed');
  await page.locator('.brand').focus();
  await page.keyboard.press('?');
  await page.getByLabel('Single-key shortcuts').uncheck();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.locator('.brand').focus();
  for (const key of ['a', 'j', 'g', 'd', '/', '?']) await page.keyboard.press(key);
  await focused(page, '.brand');
  assert.equal(await page.locator('dialog').count(), 0);
  await page.locator('#help').click();
  await page.getByLabel('Single-key shortcuts').check();
  await page.getByRole('button', { name: 'Close' }).click();
  await page.locator('.brand').focus();
  await page.keyboard.press('j');
  await focused(page, '.card-toggle');
});

test('a live view moves also when more comes than it can follow', async () => {
  await visit(page, 'dashboard');
  const figure = () => page.locator('.tile', { hasText: /^Memories\d/  }).locator('.tile-figure').textContent();
  const was = await figure();
  let isOver = false;
  const storm = (async () => {
    for (let n = 0; !isOver; n += 1) await stage.save({ text: `Plank ${n} of many.`, title: `Many ${n}`, type: 'change' });
  })();
  await until(page, (before) => ![...document.querySelectorAll('.tile-figure')].some((one) => one.textContent === before), was);
  isOver = true;
  await storm;
});

test('the figures of the dashboard are those of the worker', async () => {
  await revisit(page, 'dashboard');
  const shownFigures = () => page.locator('.tile').evaluateAll((all) => Object.fromEntries(all.map((one) => [one.querySelector('.tile-name').textContent, one.querySelector('.tile-figure').textContent])));
  const { counts, today, tokens } = await stage.api('GET', '/api/stats');
  const text = (n) => n.toLocaleString('en');
  await becomes(page, async () => {
    const all = await shownFigures();
    return [all.Memories, all['Memories today'], all['Tokens spent today']];
  }, [counts.observations, today.observations, tokens.spentToday].map(text));
});

test('a session shows its received memories and all its summaries, with figures', async () => {
  await stage.hook('SessionStart', { source: 'startup' }, 'told');
  await stage.turn('Caulk the seams', { session: 'told' });
  await stage.turn('Caulk them again', { session: 'told' });
  stage.settle();
  const { items } = await stage.api('GET', '/api/sessions');
  const { id } = items.find((one) => one.title === 'Caulk the seams');
  const whole = await stage.api('GET', `/api/sessions/${id}`);
  assert.ok(whole.told.memories > 0, 'it was told something');
  await visit(page, `sessions/${id}`);
  const told = page.locator('.figures div', { hasText: 'Received' }).locator('dd');
  assert.equal(await told.textContent(), `${whole.told.memories} memories, ${whole.told.tokens.toLocaleString('en')} tokens`);
  assert.equal(await page.locator('mem-injection tbody tr').count(), whole.injections.length);
  await becomes(page, async () => (await handles()).filter((one) => one.startsWith('S')).length, whole.summaries.length);
  // Summaries and replies are lines that name their kind.
  for (const kind of ['Summary', 'Agent reply']) await page.locator('mem-card.quiet .type', { hasText: kind }).first().waitFor();
  assert.equal(await page.locator('mem-card.quiet[data-handle^="#"]').count(), 0, 'memories are not');
  assert.ok(whole.summaries.length > 1, 'it has several summaries');
  // A row that is forgotten elsewhere disappears here, too.
  const gone = whole.observations[0];
  await stage.api('DELETE', `/api/observations/${gone.id}`);
  await page.locator(`mem-card[data-handle="${gone.handle}"]`).waitFor({ state: 'detached' });
});

test('texts run in their own direction, and words without spaces are found', async () => {
  await stage.save({ text: 'الجسر مغلق.', title: 'الجسر مغلق اليوم.', type: 'discovery' });
  await stage.save({ text: '港口的起重机今天停止工作。', title: '港口的起重机停止工作', type: 'discovery' });
  await visit(page, 'feed');
  const arabic = card(page, 'الجسر').first();
  await arabic.waitFor();
  assert.equal(await arabic.locator('.card-toggle').evaluate((one) => getComputedStyle(one).direction), 'rtl');
  const marked = await page.evaluate(() => {
    const list = document.querySelector('mem-list');
    const one = [...list.querySelectorAll('mem-card')].find((some) => some.textContent.includes('起重机'));
    one.update({ why: { matched: ['起重机'] }, score: 1 });
    return [...one.querySelectorAll('mark')].map((some) => some.textContent);
  });
  assert.ok(marked.length > 0 && marked.every((one) => one === '起重机'), marked.join());
});

test('a switch shows its state in forced colours', async () => {
  const plain = await stage.page({ forcedColors: 'active' });
  await plain.locator('mem-card').first().waitFor();
  await visit(plain, 'settings');
  const looks = await plain.locator('.switch').evaluateAll((all) => all.map((one) => [one.checked, getComputedStyle(one).backgroundColor]));
  const colours = (is) => new Set(looks.filter(([on]) => on === is).map(([, colour]) => colour));
  assert.ok(colours(true).size === 1 && colours(false).size === 1, JSON.stringify(looks));
  assert.notDeepEqual(colours(true), colours(false));
  await plain.context().close();
});

test('a theme that is chosen in one tab is that of the others', async () => {
  const context = await stage.context();
  const [one, other] = [await stage.tab(context), await stage.tab(context)];
  await one.locator('#theme').click();
  await until(other, () => document.documentElement.dataset.theme === 'light');
  await context.close();
});
