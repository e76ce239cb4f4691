// Accessibility scan of every view in both themes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { Stage, visit } from './stage.js';
import { joined } from './team.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const VIEWS = ['feed', 'feed?marked=wrong', 'search?q=gauge', 'search?q=zyxwvut&type=decision', 'sessions', 'sessions/1', 'memory/%231', 'dashboard', 'context', 'settings', 'project', 'review', 'trash', 'usage', 'team', 'nowhere'];
/** Views with a layout of their own on a phone. */
const ON_PHONE = ['feed', 'search?q=gauge', 'sessions/1', 'dashboard', 'context', 'settings', 'project', 'review', 'usage', 'team'];
const THERE = 'mem-card, mem-bars svg, .setting, .lines, .row, .lead, .map-file, .state-title, [data-view="missing"] .note';
const stage = new Stage({ vectors: false });

before(async () => {
  stage.history(200);
  stage.start();
  await stage.turn('Read the tide gauge');
  stage.settle();
});
after(() => stage.close());

/** Findings that would keep somebody out. */
async function findings(page) {
  const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }));
  return violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${one.id}: ${one.nodes.map((node) => `${node.html.slice(0, 120)} ${node.failureSummary}`).slice(0, 3).join(' | ')}`);
}

for (const colorScheme of ['light', 'dark']) {
  test(`nobody is kept out, ${colorScheme}`, async () => {
    // Given as the page's own script: the policy lets in no other.
    const page = await stage.page({ colorScheme, reducedMotion: 'reduce' });
    await page.locator('mem-card').first().waitFor();
    await joined(page);
    await page.evaluate(AXE);
    for (const view of VIEWS) {
      await visit(page, view);
      await page.locator(THERE).locator('visible=true').first().waitFor();
      const first = page.locator('mem-card').first();
      if (await first.count()) {
        const closed = first.locator('.card-toggle[aria-expanded="false"]');
        if (await closed.count()) await closed.click();
        await first.locator('[aria-expanded="true"]').waitFor();
      }
      assert.deepEqual(await findings(page), [], `${view}, ${colorScheme}`);
    }
    await page.locator('#add').click();
    await page.locator('dialog').waitFor();
    assert.deepEqual(await findings(page), [], `adding, ${colorScheme}`);
    await page.keyboard.press('Escape');
    await visit(page, 'feed?type=decision');
    await page.locator('.card-toggle').first().click();
    await page.locator('[data-act="history"]').click();
    await page.locator('.panel h3').first().waitFor();
    assert.deepEqual(await findings(page), [], `the panel, ${colorScheme}`);
    await page.keyboard.press('Escape');
    await page.locator('.card-toggle').first().focus();
    await page.keyboard.press('x');
    await page.locator('.selection').waitFor();
    assert.deepEqual(await findings(page), [], `a selection, ${colorScheme}`);
    await page.keyboard.press('Control+k');
    await page.locator('[role="option"]').first().waitFor();
    assert.deepEqual(await findings(page), [], `the palette, ${colorScheme}`);
    await page.keyboard.press('Escape');
    await page.context().close();
  });
}

test('nobody is kept out of a page without a key, or on a phone', async () => {
  const locked = await stage.page({}, new URL(stage.link()).origin);
  await locked.getByText('Session expired').waitFor();
  await locked.evaluate(AXE);
  assert.deepEqual(await findings(locked), []);
  await locked.context().close();
  const phone = await stage.page({ viewport: { width: 360, height: 740 }, reducedMotion: 'reduce' });
  await phone.locator('mem-card').first().waitFor();
  await joined(phone);
  await phone.evaluate(AXE);
  for (const view of ON_PHONE) {
    await visit(phone, view);
    await phone.locator(THERE).locator('visible=true').first().waitFor();
    assert.deepEqual(await findings(phone), [], `${view}, phone`);
  }
  await phone.context().close();
});
