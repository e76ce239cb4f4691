// The command palette: views, projects and commands by a few letters, and a search for the typed text.

import { dialog, fill, h } from './dom.js';
import { hrefOf, rowOf } from './format.js';

const VIEWS = [
  ['Feed', 'feed'], ['Sessions', 'sessions'], ['Project', 'project'], ['Context preview', 'context'], ['Review', 'review'], ['Trash', 'trash'],
  ['Team', 'team'], ['Usage: is it worth it?', 'usage'], ['Dashboard', 'dashboard'], ['Settings', 'settings'],
];
const SHOWN_MAX = 12;

/** Opens the palette. `commands` are `[name, run]`. */
export function palette(world, commands) {
  if (document.querySelector('dialog')) return;
  const go = (hash) => () => (location.hash = hash);
  const all = [
    ...VIEWS.filter(([, view]) => !document.querySelector(`.side a[href="#/${view}"][hidden]`)).map(([name, view]) => [`Go to ${name}`, go(`#/${view}`)]),
    ...commands,
    ...world.projects.map((one) => [`Project: ${one.name}`, go(`#/project?project=${one.id}`)]),
  ];
  let found = [];
  let at = 0;
  const list = h('ul', { class: 'palette-list', role: 'listbox', id: 'palette-list', 'aria-label': 'Commands' });
  const run = (one) => {
    box.close();
    one[1]();
  };
  const show = () => {
    const text = input.value.trim();
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    found = all.filter(([name]) => words.every((word) => name.toLowerCase().includes(word)));
    if (rowOf(text)) found.unshift([`Open ${text}`, go(hrefOf(text))]);
    if (text) found.push([`Search for “${text}”`, go(`#/search?${new URLSearchParams({ q: text })}`)]);
    found = found.slice(0, SHOWN_MAX);
    at = Math.min(at, Math.max(found.length - 1, 0));
    fill(list, found.map((one, n) => h('li', { role: 'option', id: `palette-${n}`, 'aria-selected': String(n === at), onclick: () => run(one) }, one[0])));
    input.setAttribute('aria-activedescendant', found.length ? `palette-${at}` : '');
    list.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  };
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      at = (at + step + found.length) % Math.max(found.length, 1);
      show();
    } else if (event.key === 'Enter' && found[at]) {
      event.preventDefault();
      run(found[at]);
    }
  };
  const input = h('input', { type: 'text', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'palette-list', 'aria-autocomplete': 'list', 'aria-label': 'Command', placeholder: 'A view, a project, a command, an id or words to search for', autocomplete: 'off', spellcheck: 'false', autofocus: true, oninput: () => { at = 0; show(); }, onkeydown: keys });
  const box = dialog('Commands', h('div', { class: 'field' }, input), list);
  show();
}
