// The source, the history and the correction of memories: panel, review, selection, trash, siblings.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becomes, card, exported, failing, focused, opened, picture, revisit, shown, siblingsOffered, until, visit, walk } from './stage.js';

const RULE = 'From now on always moor the ferry at the north berth';
const OLD_ROWS = 30;
/** An export with memories of half a year ago, one of them worth a name. */
const oldMemories = (root) => {
  const at = Date.now() - 180 * 86_400_000;
  const project = { uid: '01900000-0000-7000-8000-000000000001', name: 'harbour', root, keys: [`path:${root}`], last_active: at, created_at: at };
  const memory = { uid: '01900000-0000-7000-8000-000000000002', project: project.uid, level: 'project', type: 'change', title: 'The old quay was paved', narrative: 'The old quay was paved with granite.', origin: 'manual', made_by: 'hand', read_tokens: 7, created_at: at, updated_at: at };
  const quarry = { ...project, uid: '01900000-0000-7000-8000-000000000003', name: 'quarry', root: `${root}-quarry`, keys: [`path:${root}-quarry`] };
  const others = Array.from({ length: OLD_ROWS - 1 }, (_, n) => ({ ...memory, uid: `01900000-0000-7000-8000-0000000001${10 + n}`, project: quarry.uid, type: 'discovery', title: `Stone ${n} was split`, narrative: `Stone ${n} was split into ${n * 7} parts.` }));
  return { format: 'claude-mem', version: 1, projects: [project, quarry], observations: [memory, ...others] };
};
let decision;
const it = opened(async (stage) => {
  for (const session of ['session-1', 'session-2']) await stage.turn(RULE, { session, said: 'The ferry is moored at the north berth.' });
  stage.settle();
  decision = await stage.save({ text: 'Ferries moor at the south berth.', title: 'Ferries moor at the south berth', type: 'decision' });
  await stage.save({ text: 'Ferries moor at the east berth.', title: 'Ferries moor at the east berth now', type: 'decision' });
  for (const end of ['', ' every day']) await stage.save({ text: `The harbour light is lit at dusk${end}.`, title: `The harbour light is always lit at dusk${end}`, type: 'discovery' });
  for (let n = 0; n < 4; n += 1) await stage.save({ text: `Buoy ${n} was counted.`, title: `Buoy ${n} was counted`, type: 'change' });
  stage.import(oldMemories(stage.project));
  await stage.api('POST', '/api/context/inject', { project: 'harbour', sessionId: 'reader-1' });
});
/** The memories among the rows of a preview. */
const memoriesOf = (block) => block.items.filter((item) => item.handle.startsWith('#'));
const row = (handle) => it.page.locator(`mem-card[data-handle="${handle}"]`);

test('the panel quotes the source and leads to its turn', async () => {
  const { page, stage } = it;
  const { items } = await stage.api('GET', '/api/observations?limit=50');
  const made = items.find((one) => one.session && one.promptNumber > 0);
  await row(made.handle).locator('.card-toggle').click();
  await row(made.handle).locator('[data-act="history"]').click();
  const panel = page.locator('.panel');
  await panel.locator('blockquote').first().waitFor();
  const { sources, near } = await stage.api('GET', `/api/observations/${made.id}/provenance`);
  assert.ok(sources.length > 0);
  assert.equal(await panel.locator('blockquote p').count(), sources.length);
  const texts = new Set(sources.map((one) => [one.source, one.session?.id, one.turn, one.at].join()));
  assert.equal(await panel.locator('blockquote').count(), texts.size, 'passages of one text stand together');
  assert.equal(await panel.locator('.near a').count() >= near.length, true);
  await picture(page, 'panel');
  // The clock of a memory may be before that of its prompt: the prompt comes first all the same.
  await page.route('**/api/sessions/*', async (route) => {
    const whole = await (await route.fetch()).json();
    whole.observations.forEach((one) => (one.createdAt = whole.session.createdAt - 1_000));
    return route.fulfill({ json: whole });
  });
  await panel.getByRole('link', { name: /^Open session, turn/ }).first().click();
  await page.locator('main[data-view="session"] .target').waitFor();
  assert.match(await page.locator('.target').getAttribute('data-handle'), /^P/);
  const [heading, bar] = await page.evaluate(() => [document.querySelector('.target').previousElementSibling, document.querySelector('.top')].map((one) => [one.textContent.slice(0, 4), one.getBoundingClientRect()]).map(([text, { top, bottom }]) => ({ text, top, bottom })));
  assert.ok(heading.text === 'Turn' && heading.top >= bar.bottom, `the heading of the turn is below the bar: ${JSON.stringify([heading, bar])}`);
  await page.unroute('**/api/sessions/*');
  assert.equal(await page.locator('.panel').count(), 0, 'it goes with the view');
  await page.goBack();
  await page.locator('main[data-view="feed"]').waitFor();
});

test('the panel shows use, replacements and edits as a difference', async () => {
  const { page, stage } = it;
  await stage.api('PATCH', `/api/observations/${decision.id}`, { narrative: 'Ferries moor at the west berth.' });
  const newer = (await stage.api('GET', '/api/observations?type=decision&limit=10')).items.find((one) => one.title.includes('east'));
  await stage.api('POST', `/api/observations/${decision.id}/replace`, { by: newer.handle });
  await row(decision.handle).locator('.card-toggle').focus();
  await page.keyboard.press('i');
  const panel = page.locator('.panel');
  await panel.locator('del', { hasText: 'south' }).waitFor();
  await panel.locator('ins', { hasText: 'west' }).waitFor();
  await panel.getByRole('heading', { name: 'Replaced by' }).waitFor();
  await panel.getByText(/Shown 1 time/).waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await focused(page, `mem-card[data-handle="${decision.handle}"] *`, 'the focus comes back');
  // The mark of a replaced memory leads to the one that took its place.
  await row(decision.handle).locator('.tag a').click();
  await page.locator('main[data-view="memory"]').waitFor();
  assert.equal(await page.locator('mem-card').getAttribute('data-handle'), newer.handle);
  // Its own page tells its story without a panel, and the day.
  await page.locator('.story').getByRole('heading', { name: 'Replaces' }).waitFor();
  await page.locator('.story a', { hasText: decision.title }).first().waitFor();
  await page.locator('.story').getByRole('heading', { name: 'Use' }).waitFor();
  assert.equal(await page.getByText('End of list').count(), 0);
  await picture(page, 'memory');
  await visit(page, 'memory/%239999');
  await page.getByText('There is no #9999').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'it would not help');
  await visit(page, 'feed');
});

test('four questions of a new user are answered by keys alone', async () => {
  const { page, stage } = it;
  const press = async (...keys) => { for (const key of keys) await page.keyboard.press(key); };
  const go = async (letter, view) => {
    await page.locator('.brand').focus();
    await press('g', letter);
    await page.locator(`main[data-view="${view}"]`).waitFor();
    await shown(page);
  };
  // Where does a decision come from?
  const made = (await stage.api('GET', '/api/observations?type=decision&limit=50')).items.find((one) => one.session && one.promptNumber > 0);
  await go('f', 'feed');
  await walk(page, 'j', `mem-card[data-handle="${made.handle}"] .card-toggle`);
  await press('i');
  await page.locator('.panel blockquote').first().waitFor();
  await walk(page, 'Tab', '.panel figcaption a');
  await press('Enter');
  await page.locator('main[data-view="session"] .target').waitFor();
  // Which rule replaced another?
  await go('r', 'review');
  await walk(page, 'Tab', `#review-replaced [data-row="${decision.handle}"] .meta a`);
  await press('Enter');
  await page.locator('.story section', { hasText: 'Replaces' }).getByText(decision.title).waitFor();
  // What will the next session receive, and how is that changed?
  await go('c', 'context');
  await page.locator('.lines').waitFor();
  const [first] = memoriesOf(await stage.api('GET', '/api/context/preview?project=harbour'));
  const pinned = async () => (await stage.api('GET', `/api/observations/${first.handle.slice(1)}`)).pinned;
  await walk(page, 'Tab', `[data-row="${first.handle}"] button`);
  await press('Enter');
  await becomes(page, pinned, true);
  await page.locator('.toast', { hasText: 'Pinned' }).waitFor();
  await press('u');
  await becomes(page, pinned, false);
  // Which memories are never used? Three of them are forgotten.
  await go('u', 'usage');
  const unused = page.locator('[aria-label="Received and never used"] tbody tr');
  const before = await unused.count();
  assert.ok(before >= 3, `${before} are never used`);
  await walk(page, 'Tab', '[aria-label="Received and never used"] .danger');
  for (const n of [1, 2, 3]) {
    await press('Enter');
    await becomes(page, () => unused.count(), before - n);
    await focused(page, '[aria-label="Received and never used"] .danger', 'the next row has the focus');
  }
  const forgotten = (await stage.api('GET', '/api/trash')).items.map((one) => one.handle);
  assert.equal(forgotten.length, 3);
  await stage.api('POST', '/api/memory/bulk', { handles: forgotten, action: 'restore' });
  await visit(page, 'feed');
});

test('review: keep, replace and forget, each with undo', async () => {
  const { page, stage } = it;
  await visit(page, 'review');
  const replaced = page.locator('#review-replaced .review-item', { hasText: decision.handle });
  await replaced.getByRole('button', { name: 'Keep both' }).click();
  await replaced.waitFor({ state: 'detached' });
  assert.equal((await stage.api('GET', `/api/observations/${decision.id}`)).replacedBy, null);
  const twin = page.locator('#review-duplicate .review-item').first();
  await twin.getByRole('button', { name: 'Replace with…' }).click();
  await page.locator('dialog .pick-row').first().waitFor();
  await picture(page, 'review-replace');
  const heal = await failing(page, '**/api/search?*');
  await page.locator('dialog input').fill('ferries');
  await page.locator('dialog .near', { hasText: 'the disk is full' }).waitFor();
  await heal();
  await page.keyboard.press('Escape');
  await twin.getByRole('button', { name: /^Replace with #/ }).focus();
  await page.keyboard.press('Enter');
  await page.locator('.toast', { hasText: 'Replaced' }).waitFor();
  await page.locator('#review-duplicate').waitFor({ state: 'detached' });
  await page.keyboard.press('u');
  await page.locator('#review-duplicate .review-item').first().waitFor();
  await page.locator('#review-duplicate [data-act="forget"]').first().click();
  await page.locator('.toast', { hasText: 'Forgot' }).waitFor();
  await page.keyboard.press('u');
  await page.locator('#review-duplicate .review-item').first().waitFor();
});

test('review: a contradiction is kept, replaced or forgotten, for every browser', async () => {
  const { page, stage } = it;
  await stage.save({ text: 'Fog horns sound at night.', title: 'Fog horns sound every night', type: 'decision' });
  const newer = await stage.save({ text: 'Fog horns sound at noon.', title: 'Fog horns sound every noon', type: 'decision' });
  await visit(page, 'review');
  const pair = page.locator('#review-contradiction .review-item', { hasText: 'every night' });
  await pair.getByText('May contradict').waitFor();
  await picture(page, 'review');
  await pair.getByRole('button', { name: 'Keep both' }).click();
  await pair.waitFor({ state: 'detached' });
  // Another browser, which shares no storage with this one.
  const other = await stage.page();
  await other.locator('mem-card').first().waitFor();
  await visit(other, 'review');
  await other.locator('#review-duplicate').waitFor();
  assert.equal(await other.locator('#review-contradiction .review-item', { hasText: 'every night' }).count(), 0);
  await other.context().close();
  await page.keyboard.press('u');
  await pair.waitFor();
  await pair.getByRole('button', { name: `Replace with ${newer.handle}` }).focus();
  await page.keyboard.press('Enter');
  await page.locator('#review-replaced .review-item', { hasText: 'every night' }).waitFor();
  await page.keyboard.press('u');
  await pair.waitFor();
});

test('review: suggestions, missing files and unused memories', async () => {
  const { page, stage } = it;
  const rule = await stage.save({ text: 'Write commit messages in English.', title: 'Write commit messages in English', type: 'decision' });
  await stage.api('PATCH', `/api/observations/${rule.id}`, { level: 'proposed' });
  await revisit(page, 'review');
  const suggested = page.locator('#review-suggested .review-item', { hasText: rule.handle });
  await suggested.getByRole('button', { name: 'Apply to all projects' }).click();
  await suggested.waitFor({ state: 'detached' });
  assert.equal((await stage.api('GET', `/api/observations/${rule.id}`)).level, 'user');
  await page.keyboard.press('u');
  await suggested.waitFor();
  await suggested.getByRole('button', { name: 'Only this project' }).focus();
  await page.keyboard.press('Enter');
  await suggested.waitFor({ state: 'detached' });
  assert.equal((await stage.api('GET', `/api/observations/${rule.id}`)).level, 'project');
  await page.locator('.brand').focus();
  await page.keyboard.press('u');
  await suggested.waitFor();
  // The turn edited src/crane.rs, which is not on the disk.
  const missing = page.locator('#review-missing .review-item').first();
  await missing.locator('.mono', { hasText: 'src/crane.rs' }).waitFor();
  await missing.getByRole('button', { name: 'Keep', exact: true }).click();
  await page.locator('.toast', { hasText: 'Kept: ' }).waitFor();
  await page.locator('#review-missing').waitFor({ state: 'detached' });
  await page.keyboard.press('u');
  await missing.waitFor();
  // A long group shows its first rows, and the others on demand.
  const ofUnused = page.locator('#review-unused .review-item');
  assert.equal(await ofUnused.count(), 25);
  await page.locator('#review-unused [data-act="more"]').click();
  await becomes(page, () => ofUnused.count(), OLD_ROWS);
  assert.equal(await page.locator('#review-unused [data-act="more"]').count(), 0);
  const unused = page.locator('#review-unused .review-item', { hasText: 'The old quay was paved' });
  await unused.getByRole('button', { name: 'Keep', exact: true }).click();
  await unused.waitFor({ state: 'detached' });
  const { groups } = await stage.api('GET', '/api/review?groups=unused');
  assert.equal(groups[0].items.some(({ row: one }) => one.title.includes('old quay')), false, 'the database knows');
  await page.keyboard.press('u');
  await unused.waitFor();
  const rows = await exported(page, page.locator('[data-act="export-list"]'));
  assert.ok(['suggested', 'missing', 'unused'].every((reason) => rows.some((one) => one.reason === reason)), JSON.stringify(rows.map((one) => one.reason)));
});

test('review: a row that goes leaves the page where it is, and the focus on the next row', async () => {
  const { page } = it;
  await revisit(page, 'review');
  const rows = () => page.locator('#review-unused .review-item').evaluateAll((all) => all.map((one) => one.dataset.row));
  await page.locator('#review-unused .review-item').nth(20).scrollIntoViewIfNeeded();
  const [before, top] = [await rows(), await page.evaluate(() => scrollY)];
  assert.ok(top > 400, `scrolled to ${top}`);
  await page.locator(`#review-unused [data-row="${before[18]}"] [data-act="keep"]`).click();
  await becomes(page, async () => (await rows()).includes(before[18]), false);
  assert.equal(await page.evaluate(() => scrollY), top);
  await focused(page, `#review-unused [data-row="${before[19]}"] [data-act="keep"]`);
  await page.locator('.brand').focus();
  await page.keyboard.press('u');
  await becomes(page, async () => (await rows()).includes(before[18]), true);
});

test('Back closes a dialog of the view that was left', async () => {
  const { page } = it;
  await revisit(page, 'review');
  await page.locator('[data-act="replace"]').first().click();
  await page.locator('dialog').waitFor();
  await page.goBack();
  await page.locator('main[data-view="feed"]').waitFor();
  await page.locator('dialog').waitFor({ state: 'detached' });
});

test('a replaced memory is not suggested as a preference', async () => {
  const { page, stage } = it;
  const [older, newer] = [await stage.save({ text: 'Sign the log with a pencil.', title: 'Sign the log with a pencil', type: 'decision' }), await stage.save({ text: 'Sign the log with ink.', title: 'Sign the log with ink', type: 'decision' })];
  await stage.api('PATCH', `/api/observations/${older.id}`, { level: 'proposed' });
  const suggested = page.locator('#review-suggested .review-item', { hasText: older.handle });
  await visit(page, 'review');
  await suggested.waitFor();
  await stage.api('POST', `/api/observations/${older.id}/replace`, { by: newer.handle });
  await suggested.waitFor({ state: 'detached' });
  await visit(page, `memory/${encodeURIComponent(older.handle)}`);
  await page.locator('.tag', { hasText: 'Replaced by' }).waitFor();
  assert.equal(await page.getByText('Suggested preference').count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Apply to all projects' }).count(), 0);
});

test('several at once: x, a range by shift and click, forget, undo', async () => {
  const { page, stage } = it;
  await visit(page, 'feed?type=change');
  const toggles = page.locator('mem-card .card-toggle', { hasText: 'was counted' });
  await toggles.first().focus();
  await page.keyboard.press('x');
  await page.locator('.selection', { hasText: '1 memory selected' }).waitFor();
  await toggles.nth(2).click({ modifiers: ['Shift'] });
  await page.locator('.selection', { hasText: '3 memories selected' }).waitFor();
  await picture(page, 'selection');
  await page.locator('.selection [data-act="pin"]').click();
  await becomes(page, async () => (await stage.api('GET', '/api/observations?pinned=true')).items.length, 3);
  await page.locator('.toast', { hasText: 'Pinned: 3 memories' }).waitFor();
  await page.keyboard.press('u');
  await becomes(page, async () => (await stage.api('GET', '/api/observations?pinned=true')).items.length, 0);
  for (const n of [0, 1, 2]) {
    await toggles.nth(n).focus();
    await page.keyboard.press('x');
  }
  await walk(page, 'Tab', '.selection [data-act="forget"]', 80);
  await page.keyboard.press('Enter');
  await becomes(page, () => toggles.count(), 1);
  await visit(page, 'trash');
  assert.equal(await page.locator('.row', { hasText: 'was counted' }).count(), 3);
  await page.locator('.row', { hasText: 'was counted' }).first().getByRole('button', { name: 'Restore' }).click();
  await becomes(page, () => page.locator('.row', { hasText: 'was counted' }).count(), 2);
  assert.equal((await stage.api('GET', '/api/trash')).items.length, 2);
});

test('forgetting offers the rows of any session that say the same, and forgets them too', async () => {
  const { page, stage } = it;
  await visit(page, 'feed');
  const made = (await stage.api('GET', '/api/observations?limit=50')).items.find((one) => one.session && one.promptNumber > 0);
  const siblings = (await stage.api('GET', `/api/siblings?row=${encodeURIComponent(made.handle)}`)).items;
  assert.ok(new Set(siblings.map((row) => row.session?.id)).size > 1, 'they are of two sessions');
  await row(made.handle).first().locator('.card-toggle').focus();
  await page.keyboard.press('Delete');
  await row(made.handle).waitFor({ state: 'detached' });
  await page.locator('.toast [data-act="siblings"]').click();
  const offered = await page.locator('dialog .checklist input').evaluateAll((all) => all.map((one) => one.value));
  assert.deepEqual(offered.toSorted(), siblings.map((one) => one.handle).toSorted());
  await picture(page, 'siblings');
  await page.locator('dialog').getByRole('button', { name: 'Forget selected' }).click();
  await page.locator('.toast', { hasText: `Forgot ${siblings.length} rows more.` }).waitFor();
  const handles = async () => (await stage.api('GET', '/api/trash')).items.map((one) => one.handle);
  for (const handle of [made.handle, ...offered]) assert.ok((await handles()).includes(handle), handle);
  await page.keyboard.press('u');
  await row(made.handle).waitFor();
  await becomes(page, async () => (await handles()).some((handle) => [made.handle, ...offered].includes(handle)), false, 'all of it is back');
});

test('every place that forgets offers the siblings', async () => {
  const { page, stage } = it;
  const twin = await stage.save({ text: 'The bell buoy is repainted every second spring by the harbour crew.', title: 'The bell buoy is repainted every second spring', type: 'change' });
  const other = await stage.save({ text: 'The bell buoy is repainted every second spring by the harbour crew, said the pilot.', title: 'What the pilot said about the bell buoy', type: 'discovery' });
  for (const id of ['reader-8', 'reader-9']) await stage.api('POST', '/api/context/inject', { project: 'harbour', sessionId: id });
  const places = {
    bulk: async () => {
      await visit(page, 'feed?type=change');
      await row(twin.handle).locator('.card-toggle').focus();
      await page.keyboard.press('x');
      await page.locator('.selection [data-act="forget"]').click();
    },
    context: async () => {
      await visit(page, 'context');
      await page.getByRole('button', { name: `Forget ${twin.handle}`, exact: true }).click();
    },
    usage: async () => {
      await visit(page, 'usage');
      await page.getByRole('button', { name: `Forget ${twin.handle}`, exact: true }).click();
    },
    review: async () => {
      await stage.api('POST', `/api/observations/${twin.id}/replace`, { by: decision.handle });
      await visit(page, 'review');
      await page.locator('#review-replaced .review-item', { hasText: twin.handle }).locator('[data-act="forget"]').click();
    },
  };
  for (const [name, act] of Object.entries(places)) assert.ok((await siblingsOffered(page, act)).includes(other.handle), name);
  await stage.api('POST', '/api/memory/bulk', { handles: [twin.handle, other.handle], action: 'forget' });
});

test('several at once: another type, with undo, and a file of the rows', async () => {
  const { page, stage } = it;
  await visit(page, 'feed?type=change');
  const toggles = page.locator('mem-card .card-toggle', { hasText: 'was counted' });
  await toggles.first().waitFor();
  const choose = async () => {
    for (const n of [0, 1]) {
      await toggles.nth(n).focus();
      await page.keyboard.press('x');
    }
    await page.locator('.selection', { hasText: '2 memories selected' }).waitFor();
  };
  await choose();
  const rows = await exported(page, page.locator('.selection [data-act="export"]'));
  assert.equal(rows.length, 2);
  assert.ok(rows.every((one) => one.title.includes('was counted') && one.narrative));
  const types = async () => Promise.all(rows.map(async ({ id }) => (await stage.api('GET', `/api/observations/${id}`)).type));
  await page.getByLabel('Change type').selectOption('discovery');
  await page.locator('.toast', { hasText: 'Type changed: 2 memories' }).waitFor();
  assert.deepEqual(await types(), ['discovery', 'discovery']);
  await page.keyboard.press('u');
  await becomes(page, types, ['change', 'change']);
});

test('siblings that could not be listed are not taken for none', async () => {
  const { page, stage } = it;
  await visit(page, 'feed');
  const made = (await stage.api('GET', '/api/observations?limit=50')).items.find((one) => one.session && one.promptNumber > 0);
  const heal = await failing(page, '**/api/siblings?*');
  await row(made.handle).locator('.card-toggle').focus();
  await page.keyboard.press('Delete');
  await page.locator('.toast', { hasText: 'Rows that say the same could not be listed: the disk is full' }).waitFor();
  await heal();
  await page.keyboard.press('u');
  await row(made.handle).waitFor();
});

test('every mark can be undone, and a mark is not set twice', async () => {
  const { page, stage } = it;
  await visit(page, 'feed');
  const one = card(page, 'Ferries moor at the east').first();
  const stored = async () => (await stage.api('GET', '/api/observations?type=decision&limit=10')).items.find((each) => each.title.includes('east'));
  await one.locator('.card-toggle').click();
  await one.locator('[data-act="useless"]').click();
  await one.locator('[data-act="useless"]:disabled').waitFor();
  const entries = async () => (await stage.api('GET', `/api/ledger?row=${encodeURIComponent((await stored()).handle)}`)).items.filter((entry) => entry.signal === 'useless').length;
  assert.equal(await entries(), 1);
  await page.keyboard.press('u');
  await one.locator('[data-act="useless"]:not(:disabled)').waitFor();
  assert.equal(await entries(), 0);
  await one.locator('.card-toggle').focus();
  await page.keyboard.press('w');
  await one.locator('.tag', { hasText: 'Wrong' }).waitFor();
  await page.locator('.toast', { hasText: 'Marked as wrong' }).waitFor();
  await page.keyboard.press('u');
  await one.locator('.tag', { hasText: 'Wrong' }).waitFor({ state: 'detached' });
  assert.equal((await stored()).wrong, false);
});
