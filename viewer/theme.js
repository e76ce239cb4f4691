// Light, dark, or as the system says; remembered in this browser.

import { fill } from './dom.js';

const KEY = 'claude-mem-theme';
const ORDER = ['system', 'light', 'dark'];
const SIGN = { system: '◐', light: '○', dark: '●' };

export function theme(button) {
  let chosen = localStorage.getItem(KEY) ?? 'system';
  const apply = () => {
    document.documentElement.dataset.theme = chosen;
    fill(button, SIGN[chosen]);
    button.title = `Theme: ${chosen}`;
    button.setAttribute('aria-label', `Theme: ${chosen}`);
  };
  button.addEventListener('click', () => {
    chosen = ORDER[(ORDER.indexOf(chosen) + 1) % ORDER.length];
    localStorage.setItem(KEY, chosen);
    apply();
  });
  apply();
}
