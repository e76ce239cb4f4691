// Comfortable or compact rows, remembered in this browser.

import { h } from './dom.js';

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
  const button = h('button', { type: 'button', class: 'quiet small', 'aria-pressed': String(isCompact()), 'aria-keyshortcuts': 'c', title: 'Compact rows (c)', id: 'density', onclick: press }, 'Compact');
  return button;
}
