// Keeps the visible rows in place when rows above them come or go. Browsers do so themselves, except
// Safari.

const SEES_TO_IT = CSS.supports('overflow-anchor', 'auto');

export function inPlace(change) {
  const read = !SEES_TO_IT && scrollY > 0 && [...document.querySelectorAll('mem-card')].find((card) => card.getBoundingClientRect().top > 0);
  const before = read && read.getBoundingClientRect().top;
  change();
  if (read?.isConnected) scrollBy(0, read.getBoundingClientRect().top - before);
}
