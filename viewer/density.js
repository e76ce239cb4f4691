// Comfortable or compact rows, remembered in this browser.

import { h, s } from './dom.js';

const KEY = 'claude-mem-density';
const isCompact = () => localStorage.getItem(KEY) === 'compact';
const apply = () => (document.documentElement.dataset.density = isCompact() ? 'compact' : 'comfortable');

export function densityButton() {
  apply();
  const press = () => {
    localStorage.setItem(KEY, isCompact() ? 'comfortable' : 'compact');
    apply();
    button.setAttribute('aria-pressed', String(isCompact()));
  };
  const button = h('button', { type: 'button', class: 'square', 'aria-label': 'Compact rows', 'aria-pressed': String(isCompact()), 'aria-keyshortcuts': 'c', title: 'Compact rows (c)', id: 'density', onclick: press }, s('svg', { class: 'icon', viewBox: '0 0 20 20', 'aria-hidden': 'true' }, s('path', { d: 'M3 4h14M3 8h14M3 12h14M3 16h14' })));
  return button;
}
