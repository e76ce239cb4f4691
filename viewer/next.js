// Exactly what the next session would be told, with the settings that change it.

import { get, patch } from './api.js';
import { debounce, fill, h, loading, state, toast } from './dom.js';
import { count } from './words.js';

const SWITCHES = [['context_summary', 'The last session'], ['context_index', 'The index'], ['context_preferences', 'Preferences'], ['context_economics', 'The cost line']];

export async function next(world) {
  const project = world.project || world.projects[0]?.id;
  if (project == null) return [h('h1', {}, 'Next session'), state('There is no project yet', 'Start Claude Code in one.')];
  const settings = Object.fromEntries((await get('/api/settings')).items.map((item) => [item.key, item]));
  const out = h('div', {}, loading());
  const show = async () => {
    try {
      fill(out, preview(await get('/api/context/preview', { project })));
    } catch (error) {
      fill(out, state(error.message, error.hint));
    }
  };
  const save = debounce(250, async (key, value) => {
    try {
      await patch('/api/settings', { [key]: value });
      await show();
    } catch (error) {
      toast(`${error.message} ${error.hint}`);
    }
  });
  const budget = settings.context_tokens;
  const figure = h('output', {}, `${count(budget.value)} tokens`);
  const controls = h(
    'fieldset',
    { class: 'controls' },
    h('legend', {}, 'What goes in'),
    h('label', { class: 'filter' }, h('span', {}, 'Budget'), h('input', { type: 'range', min: String(budget.min), max: String(budget.max), step: '50', value: String(budget.value), oninput: (event) => { fill(figure, `${count(Number(event.target.value))} tokens`); save('context_tokens', Number(event.target.value)); } }), figure),
    SWITCHES.filter(([key]) => settings[key]).map(([key, name]) => h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: settings[key].value === true, onchange: (event) => save(key, event.target.checked) }), name)),
  );
  show();
  return [h('h1', {}, 'Next session'), h('p', { class: 'note' }, 'What a session that starts now would be given, to the letter.'), controls, out];
}

function preview(block) {
  if (!block.text) return state('It would be told nothing', 'There is nothing to remember in this project yet.');
  const share = Math.min(block.tokens / block.budget, 1);
  return [
    h('p', { class: 'note' }, `${count(block.tokens)} of ${count(block.budget)} tokens${block.leftOut ? `, ${count(block.leftOut)} memories left out` : ''}`),
    h('div', { class: 'meter', role: 'meter', 'aria-valuenow': String(block.tokens), 'aria-valuemin': '0', 'aria-valuemax': String(block.budget), 'aria-label': 'Tokens' }, h('span', { style: { inlineSize: `${share * 100}%` } })),
    h('pre', { class: 'context', tabindex: '0' }, block.text),
    h('h2', {}, 'Why these'),
    h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Why these' },
      h('table', {},
        h('thead', {}, h('tr', {}, ['Memory', 'Worth', 'Tokens', 'Because'].map((name) => h('th', { scope: 'col' }, name)))),
        h('tbody', {}, block.items.map((item) => h('tr', {}, h('td', {}, `${item.handle} ${item.title}`), h('td', {}, item.value.toFixed(1)), h('td', {}, count(item.tokens)), h('td', {}, item.reason)))))),
  ];
}
