// Load time of the page: `cargo xtask bench page`. Reported, never a reason to fail.
//
// Measured from the start of the navigation until the browser has painted the first memory. Every page
// costs a browser some time; so each visit is paired with an identical visit to a one-line page of the
// same server (`/health`), and the difference is reported.

import { measured, median, Stage } from './stage.js';

const VISITS = 15;
const rows = Number(process.argv[2] ?? 100_000);
const stage = new Stage({ vectors: false });

/** Lets the browser report when the first memory, or the one line, is painted. The page is not queried
 *  before that, because queries would be measured too. */
const watch = () => {
  new MutationObserver((_, observer) => {
    const first = document.querySelector('mem-card .card-toggle, body > pre');
    if (!first) return;
    window.inserted = performance.now();
    first.setAttribute('elementtiming', 'first');
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
  new PerformanceObserver((list) => {
    window.painted = list.getEntries()[0].renderTime;
    console.info('painted');
  }).observe({ type: 'element', buffered: true });
};

/** Milliseconds since the start of the navigation, and bytes. */
const seen = () => {
  const [page] = performance.getEntriesByType('navigation');
  const resources = performance.getEntriesByType('resource');
  const files = resources.filter((one) => one.name.includes('/assets/'));
  // A page opened by a link gets them together with its token.
  const feed = resources.find((one) => /api\/(turns|page\/token)/.test(one.name));
  return {
    times: { 'page answered': page.responseEnd, 'the load event': page.loadEventStart, 'memories asked for': feed?.startTime, 'memories answered': feed?.responseEnd, 'memories in the page': window.inserted, 'memories painted': window.painted },
    weight: page.decodedBodySize + files.reduce((sum, one) => sum + one.decodedBodySize, 0),
    requests: 1 + files.length,
  };
};

async function visit(page, go) {
  const painted = page.waitForEvent('console', (message) => message.text() === 'painted');
  await go();
  await painted;
  return page.evaluate(seen);
}

/** A tab of this context and its measurements. */
async function open(context, address) {
  const page = await context.newPage();
  await page.addInitScript(watch);
  return { page, ...(await visit(page, () => page.goto(address))) };
}

/** The minimum is the result of an otherwise idle machine. */
function tell(what, figures) {
  const known = figures.filter((figure) => figure != null);
  measured(what, known.length ? `p50 ${median(known).toFixed(1)} ms, least ${Math.min(...known).toFixed(1)} ms` : 'not seen');
}

/** `pairs`: each a visit to the viewer and one to the one-line page. */
function say(what, pairs) {
  for (const name of Object.keys(pairs[0].viewer.times)) tell(`${what}, ${name}`, pairs.map(({ viewer }) => viewer.times[name]));
  // The browser's cost for any page, and our own share.
  for (const [name, done] of [['the load event', 'loaded'], ['memories painted', 'painted']]) {
    tell(`${what}, a page of one line ${done}`, pairs.map(({ line }) => line.times[name]));
    tell(`${what}, the viewer ${done} over a page of one line`, pairs.map(({ viewer, line }) => viewer.times[name] - line.times[name]));
  }
}

async function times(count, run) {
  const all = [];
  for (let n = 0; n < count; n += 1) all.push(await run());
  return all;
}

try {
  stage.history(rows, process.argv[3] || undefined);
  stage.start();
  const { origin } = new URL(stage.link());
  const line = `${origin}/health`;
  const fresh = async (address) => {
    // A new context: nothing is cached from the last visit.
    const context = await stage.context();
    const saw = await open(context, address);
    await context.close();
    return saw;
  };
  const first = await times(VISITS, async () => ({ viewer: await fresh(stage.link()), line: await fresh(line) }));
  const context = await stage.context();
  const tab = async (address) => {
    const saw = await open(context, address);
    await saw.page.close();
    return saw;
  };
  await tab(stage.link());
  const tabs = await times(VISITS, async () => ({ viewer: await tab(stage.link()), line: await tab(line) }));
  const [viewer, other] = [(await open(context, stage.link())).page, (await open(context, line)).page];
  const again = async (page) => {
    await page.bringToFront();
    return visit(page, () => page.reload());
  };
  const reloads = await times(VISITS, async () => ({ viewer: await again(viewer), line: await again(other) }));
  console.log(`${rows} observations, ${VISITS} visits each, in turn with visits to a page of one line`);
  measured('page weight', `${(first[0].viewer.weight / 1024).toFixed(0)} KB in ${first[0].viewer.requests} requests`);
  say('first visit', first);
  say('new tab by `claude-mem open`', tabs);
  say('reload', reloads);
} finally {
  await stage.close();
}
