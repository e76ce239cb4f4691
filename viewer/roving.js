// One Tab stop for a row of links: arrow keys, Home and End lead from one to the next.

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Makes the links of `box` one Tab stop: the current one, or the first. Returns the box. */
export function roving(box) {
  const links = [...box.querySelectorAll('a')];
  const stopAt = (link) => links.forEach((one) => one.setAttribute('tabindex', one === link ? '0' : '-1'));
  stopAt(links.find((one) => one.getAttribute('aria-current')) ?? links[0]);
  box.setAttribute('role', 'toolbar');
  box.addEventListener('focusin', (event) => links.includes(event.target) && stopAt(event.target));
  box.addEventListener('keydown', (event) => {
    const at = links.indexOf(event.target);
    const ends = { Home: 0, End: links.length - 1 };
    const next = ends[event.key] ?? (STEPS[event.key] ? (at + STEPS[event.key] + links.length) % links.length : null);
    if (at < 0 || next === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    links[next].focus();
  });
  return box;
}
