// When the page's first picture is on the screen.

/** A browser that does not say so is given this long. */
const PATIENCE_MS = 250;

/** Settled when the first paint is done: less urgent work waits for it. A hidden page is never
 *  painted. */
export const painted = () => new Promise((done) => {
  if (document.hidden) return done();
  new PerformanceObserver(() => done()).observe({ type: 'paint', buffered: true });
  return setTimeout(done, PATIENCE_MS);
});
