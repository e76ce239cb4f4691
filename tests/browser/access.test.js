// Accessibility scan of every view and state in both themes.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { failing, revisit, staged, until, visit } from './stage.js';
import { joined } from './team.js';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const VIEWS = ['feed', 'feed?marked=wrong', 'search?q=gauge', 'search?q=zyxwvut&type=decision', 'sessions', 'sessions/1', 'memory/%231', 'dashboard', 'context', 'settings', 'project', 'review', 'trash', 'usage', 'usage?days=&list=received', 'usage?days=&list=calls', 'team', 'nowhere'];
/** Views with a layout of their own on a phone. */
const ON_PHONE = ['feed', 'search?q=gauge', 'search?q=zyxwvut&type=decision', 'sessions', 'sessions/1', 'memory/%231', 'trash', 'dashboard', 'context', 'settings', 'project', 'review', 'usage', 'team'];
const THERE = 'mem-card, mem-bars svg, .setting, .lines, .row, .lead, .map-file, .state-title, [data-view="missing"] .note';
const stage = staged(async (stage) => {
  await stage.turn('Read the tide gauge');
  stage.settle();
}, { seed: (stage) => stage.history(200) });

const EVERYTHING = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] };
/** Another colour scheme changes colours and nothing else. */
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** Findings that would keep somebody out. */
async function findings(page, runOnly = EVERYTHING) {
  const { violations } = await page.evaluate((only) => window.axe.run(document, { runOnly: only, resultTypes: ['violations'] }), runOnly);
  return violations.filter((one) => one.impact === 'serious' || one.impact === 'critical').map((one) => `${one.id}: ${one.nodes.map((node) => `${node.html.slice(0, 120)} ${node.failureSummary}`).slice(0, 3).join(' | ')}`);
}

/** Scans the page as it stands, in the light and in the dark. */
async function scan(page, name) {
  assert.deepEqual(await findings(page), [], `${name}, light`);
  await page.emulateMedia({ colorScheme: 'dark' });
  assert.deepEqual(await findings(page, COLOURS), [], `${name}, dark`);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** A page that can be scanned. */
async function scannable(options = {}) {
  const page = await stage.page({ reducedMotion: 'reduce', ...options });
  await page.locator('mem-card').first().waitFor();
  // Given as the page's own script: the policy lets in no other.
  await page.evaluate(AXE);
  return page;
}

test('every view is accessible, light and dark', async () => {
  const page = await scannable();
  await joined(page);
  for (const view of VIEWS) {
    await visit(page, view);
    await page.locator(THERE).locator('visible=true').first().waitFor();
    const first = page.locator('mem-card').first();
    if (await first.count()) {
      const closed = first.locator('.card-toggle[aria-expanded="false"]');
      if (await closed.count()) await closed.click();
      await first.locator('[aria-expanded="true"]').waitFor();
    }
    await scan(page, view);
  }
  await page.context().close();
});

test('a contrast that is too low is found, light and dark', async () => {
  const page = await scannable();
  await page.evaluate(() => document.querySelector('main').prepend(Object.assign(document.createElement('p'), { id: 'faint', textContent: 'Faint', style: 'color: light-dark(#bbb, #555); background: light-dark(#fff, #111)' })));
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme });
    const [found] = await findings(page, COLOURS);
    assert.match(found ?? '', /^color-contrast: <p id="faint"/, colorScheme);
  }
  await page.context().close();
});

/** States of views and dialogs, each with the way to it; the page is left as it was. */
const STATES = {
  adding: async (page) => {
    await page.locator('#add').click();
    await page.locator('dialog').waitFor();
    return () => page.keyboard.press('Escape');
  },
  editing: async (page) => {
    await visit(page, 'feed?type=decision');
    await page.locator('.card-toggle').first().click();
    await page.locator('[data-act="edit"]').click();
    await page.locator('.edit').waitFor();
    return () => page.keyboard.press('Escape');
  },
  'compact rows and open folds': async (page) => {
    await visit(page, 'feed');
    await page.locator('[data-fold]').first().click();
    await page.locator('#density').click();
    await page.locator('[data-density="compact"] [data-fold][aria-expanded="true"]').waitFor();
    return () => page.locator('#density').click();
  },
  'the result of “Try”': async (page) => {
    await visit(page, 'context');
    await page.getByLabel('Text to try').fill('gauge');
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.locator('pre.context, .state-title').first().waitFor();
    return () => {};
  },
  'a budget that is tried': async (page) => {
    await page.getByLabel(/^What if the budget/).fill('300');
    await page.getByRole('button', { name: 'Save this budget' }).waitFor();
    await until(page, () => document.querySelector('.meter')?.getAttribute('aria-valuemax') === '300');
    return () => page.getByRole('button', { name: 'Back to the saved one' }).click();
  },
  'settings without a match': async (page) => {
    await visit(page, 'settings');
    await page.getByLabel('Find a setting').fill('zyxwvut');
    await page.getByText('No such setting').waitFor();
    return () => page.getByLabel('Find a setting').fill('');
  },
  'advanced settings': async (page) => {
    await page.locator('.advanced summary').first().click();
    await page.locator('.advanced[open] .setting').first().waitFor();
    return () => {};
  },
  'a trash with rows, and a way back': async (page) => {
    await visit(page, 'feed?type=discovery');
    await page.locator('.card-toggle').first().focus();
    await page.keyboard.press('Delete');
    await page.locator('.toast').waitFor();
    await visit(page, 'trash');
    await page.getByRole('button', { name: 'Restore' }).first().waitFor();
    return () => page.keyboard.press('u');
  },
  'the panel': async (page) => {
    await visit(page, 'feed?type=decision');
    await page.locator('.card-toggle').first().click();
    await page.locator('[data-act="history"]').click();
    await page.locator('.panel h3').first().waitFor();
    return () => page.keyboard.press('Escape');
  },
  'a selection': async (page) => {
    await visit(page, 'feed?type=decision');
    await page.locator('.card-toggle').first().focus();
    await page.keyboard.press('x');
    await page.locator('.selection').waitFor();
    return () => page.keyboard.press('x');
  },
  'the palette': async (page) => {
    await page.keyboard.press('Control+k');
    await page.locator('[role="option"]').first().waitFor();
    return () => page.keyboard.press('Escape');
  },
  'a conflict': async (page) => {
    const row = await stage.save({ text: 'The bell is struck twice.', title: 'The bell is struck', type: 'decision' });
    await visit(page, 'feed?type=decision');
    const its = (what) => page.locator(`mem-card[data-handle="${row.handle}"] ${what}`);
    await its('.card-toggle').click();
    await its('[data-act="edit"]').click();
    await its('[name="narrative"]').fill('The bell is struck three times.');
    await stage.api('PATCH', `/api/observations/${row.id}`, { narrative: 'The bell is struck once.' });
    await its('.edit').getByRole('button', { name: 'Save', exact: true }).click();
    await its('.conflict del').first().waitFor();
    return async () => its('.conflict').getByRole('button', { name: 'Use the stored version' }).click();
  },
  'Replace with…': async (page) => {
    await visit(page, 'review');
    await page.locator('[data-act="replace"]').first().click();
    await page.locator('dialog .pick-row').first().waitFor();
    return () => page.keyboard.press('Escape');
  },
  siblings: async (page) => {
    const texts = ['The pilot boat is painted orange every spring by the crew.', 'The pilot boat is painted orange every spring by the crew, again.'];
    const rows = [];
    for (const text of texts) rows.push(await stage.save({ text, title: text.slice(0, 30 + rows.length * 9), type: 'change' }));
    await visit(page, 'feed?type=change');
    await page.locator(`mem-card[data-handle="${rows[0].handle}"] .card-toggle`).focus();
    await page.keyboard.press('Delete');
    await page.locator('.toast [data-act="siblings"]').click();
    await page.locator('dialog .checklist input').first().waitFor();
    return async () => {
      await page.keyboard.press('Escape');
      await stage.api('POST', '/api/memory/bulk', { handles: rows.map((row) => row.handle), action: 'forget' });
    };
  },
  help: async (page) => {
    await page.locator('#help').click();
    await page.locator('dialog .keys').waitFor();
    return () => page.keyboard.press('Escape');
  },
  'an error in place of a view': async (page) => {
    const heal = await failing(page, '**/api/stats');
    await visit(page, 'dashboard');
    await page.locator('.failed').waitFor();
    return heal;
  },
  offline: async (page) => {
    await page.evaluate(() => document.querySelector('.top').after(Object.assign(document.createElement('p'), { className: 'offline', textContent: 'claude-mem is not running. Run claude-mem open.' })));
    return () => page.locator('.offline').evaluate((one) => one.remove());
  },
  'a first run': async (page) => {
    await page.route('**/api/turns?*', (route) => route.fulfill({ json: { items: [], nextCursor: null, seen: '' } }));
    await visit(page, 'feed');
    await page.locator('.steps li').first().waitFor();
    return () => page.unroute('**/api/turns?*');
  },
  'a running turn': async (page) => {
    const session = 'running-1';
    await stage.hook('UserPromptSubmit', { prompt: 'Scrape the hull', prompt_id: session }, session);
    await revisit(page, 'feed');
    await page.locator('.running-turn').first().waitFor();
    return () => stage.hook('Stop', { last_assistant_message: 'Scraped.', prompt_id: session }, session);
  },
  'an open injection': async (page) => {
    await stage.hook('SessionStart', { source: 'startup' }, 'told');
    await stage.turn('Read the tide gauge again', { session: 'told' });
    stage.settle();
    const one = (await stage.api('GET', '/api/sessions?limit=50')).items.find((each) => each.clientSession === 'told');
    await visit(page, `sessions/${one.id}`);
    await page.locator('mem-injection summary').first().click();
    await page.locator('mem-injection details[open] table').first().waitFor();
    return () => {};
  },
};

test('every state is accessible, light and dark', async () => {
  const page = await scannable();
  for (const [name, enter] of Object.entries(STATES)) {
    const leave = await enter(page);
    await scan(page, name);
    await leave();
    await until(page, () => !document.querySelector('dialog[open]'));
  }
  await page.context().close();
});

/** States with a layout of their own on a phone. */
const STATES_ON_PHONE = ['adding', 'editing', 'a first run', 'the panel', 'a selection', 'the palette'];

test('a locked page and a phone are accessible', async () => {
  const locked = await stage.page({}, new URL(stage.link()).origin);
  await locked.getByText('Session expired').waitFor();
  await locked.evaluate(AXE);
  await scan(locked, 'locked');
  await locked.context().close();
  const phone = await scannable({ viewport: { width: 360, height: 740 } });
  await joined(phone);
  for (const view of ON_PHONE) {
    await visit(phone, view);
    await phone.locator(THERE).locator('visible=true').first().waitFor();
    await scan(phone, `${view}, phone`);
  }
  for (const name of STATES_ON_PHONE) {
    const leave = await STATES[name](phone);
    await scan(phone, `${name}, phone`);
    await leave();
    await until(phone, () => !document.querySelector('dialog[open]'));
  }
  await phone.context().close();
});
