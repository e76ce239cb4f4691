// Headings between the items of a list, where a day or a turn begins.

import { h } from './dom.js';

/** Sets the headings of a page, counting from the page before. `selector` finds its items. */
export function setHeadings(page, selector, headingOf) {
  page.querySelectorAll('.day').forEach((heading) => heading.remove());
  const above = page.previousElementSibling;
  let last = above ? headingOf(above.last) : '';
  for (const item of page.querySelectorAll(selector)) {
    const now = headingOf(item.row);
    if (now !== last) item.before(h('h2', { class: 'day' }, now));
    last = now;
  }
}
