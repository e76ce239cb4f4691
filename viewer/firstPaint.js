// When the page's first picture is on the screen.

/** A browser that does not say so is given this long. */
const PATIENCE_MS = 250;

/** Until then the browser has enough to do: what can wait, waits for this. A page that nobody looks
 *  at is not painted. */
export const painted = () => new Promise((done) => {
  if (document.hidden) return done();
  new PerformanceObserver(() => done()).observe({ type: 'paint', buffered: true });
  return setTimeout(done, PATIENCE_MS);
});
