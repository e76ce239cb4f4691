// Light, dark, or as the system says; remembered in this browser.

import { fill, s } from './dom.js';

const KEY = 'claude-mem-theme';
const ORDER = ['system', 'light', 'dark'];
const RAYS = 'M10 2v2M10 16v2M2 10h2M16 10h2M4.3 4.3l1.4 1.4M14.3 14.3l1.4 1.4M4.3 15.7l1.4-1.4M14.3 5.7l1.4-1.4';
const SIGN = {
  system: () => [s('rect', { x: 3, y: 4, width: 14, height: 9, rx: 1.5 }), s('path', { d: 'M7 16.5h6' })],
  light: () => [s('circle', { cx: 10, cy: 10, r: 3.2 }), s('path', { d: RAYS })],
  dark: () => s('path', { d: 'M16 11.8A6.5 6.5 0 1 1 8.2 4a5.2 5.2 0 0 0 7.8 7.8z' }),
};

export function theme(button) {
  let chosen = localStorage.getItem(KEY);
  if (!ORDER.includes(chosen)) chosen = 'system';
  const apply = () => {
    document.documentElement.dataset.theme = chosen;
    fill(button, s('svg', { class: 'icon', viewBox: '0 0 20 20', 'aria-hidden': 'true' }, SIGN[chosen]()));
    button.title = `Theme: ${chosen}`;
    button.setAttribute('aria-label', `Theme: ${chosen}`);
  };
  // Another tab chose.
  addEventListener('storage', ({ key, newValue }) => {
    if (key !== KEY || !ORDER.includes(newValue)) return;
    chosen = newValue;
    apply();
  });
  button.addEventListener('click', () => {
    chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length];
    localStorage.setItem(KEY, chosen);
    apply();
  });
  apply();
}
