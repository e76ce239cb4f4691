// How long the page takes to be there: `cargo xtask bench page`. Reported, never a reason to fail.
//
// The first visit brings everything; later ones find the page's files where the browser keeps them.

import { measured, median, Stage } from './stage.js';

const VISITS = 15;
const rows = Number(process.argv[2] ?? 100_000);
const stage = new Stage({ CLAUDE_MEM_VECTORS: 'off' });

/** Milliseconds from the start of the navigation. */
const seen = () => {
  const [page] = performance.getEntriesByType('navigation');
  const paint = performance.getEntriesByName('first-contentful-paint')[0];
  const feed = performance.getEntriesByType('resource').find((one) => one.name.includes('/api/feed'));
  return { 'the page answered': page.responseEnd, 'first paint': paint?.startTime, 'page and modules loaded': page.domContentLoadedEventEnd, 'memories asked for': feed?.startTime, 'memories answered': feed?.responseEnd, 'memories in the page': window.shown };
};

/** Notes when the first card is put in, in the page's own time. */
const watch = () => {
  new MutationObserver((_, observer) => {
    if (!document.querySelector('mem-card')) return;
    window.shown = performance.now();
    observer.disconnect();
  }).observe(document, { childList: true, subtree: true });
};

function say(what, visits) {
  for (const name of Object.keys(visits[0])) {
    const figures = visits.map((visit) => visit[name]).filter((figure) => figure != null);
    measured(`${what}, ${name}, p50`, figures.length ? `${median(figures).toFixed(1)} ms` : 'not seen');
  }
}

try {
  stage.history(rows);
  stage.start();
  const first = [];
  for (let n = 0; n < VISITS; n += 1) {
    // A context of its own: nothing is kept from the last.
    const page = await stage.page({}, 'about:blank');
    await page.addInitScript(watch);
    await page.goto(stage.link());
    await page.locator('mem-card').first().waitFor();
    first.push(await page.evaluate(seen));
    await page.context().close();
  }
  const again = [];
  const page = await stage.page();
  await page.addInitScript(watch);
  for (let n = 0; n < VISITS; n += 1) {
    await page.reload();
    await page.locator('mem-card').first().waitFor();
    again.push(await page.evaluate(seen));
  }
  console.log(`${rows} observations, ${VISITS} visits each`);
  say('first visit', first);
  say('again', again);
} finally {
  await stage.close();
}
