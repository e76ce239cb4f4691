// Exactly what the next session would be told, with the settings that change it.

import { get, patch } from './api.js';
import { debounce, failure, fill, h, loading, state, throttle, trouble } from './dom.js';
import { named, table } from './table.js';
import { toast } from './toasts.js';
import { count, mark, plural } from './words.js';

const SWITCHES = [
  ['context', 'Tell it what is remembered'], ['context_summary', 'The last session'], ['context_index', 'Earlier memories'],
  ['context_preferences', 'Preferences'], ['context_economics', 'The cost line'],
];
const STEP = 50;

export async function next(world) {
  const title = h('h1', {}, 'Next session');
  await world.known;
  // There may be none; or they could not be had then, and what is wrong now is said.
  if (!world.projects.length) world.projects = (await get('/api/projects')).items;
  const project = world.projects.find((one) => String(one.id) === world.project) ?? world.projects[0];
  if (!project) return [title, state('There is no project yet', 'Start Claude Code in one, then come back.')];
  const settings = Object.fromEntries((await get('/api/settings')).items.map((item) => [item.key, item]));
  // Of all that changes, this line alone is read out.
  const used = h('p', { class: 'note', role: 'status' });
  const out = h('div', {}, loading());
  let turn = 0;
  const show = async (tokens) => {
    const mine = ++turn;
    try {
      const block = await get('/api/context/preview', { project: project.id, tokens });
      if (mine !== turn) return;
      fill(used, usedOf(block));
      fill(out, preview(block));
    } catch (error) {
      if (mine === turn) fill(out, failure(error, () => show(tokens)));
    }
  };
  /** What could not be kept goes back to what it was. */
  const save = async (key, value, undo) => {
    try {
      await patch('/api/settings', { [key]: value });
      settings[key].value = value;
    } catch (error) {
      undo();
      toast(trouble(error));
    }
    await show();
  };
  const budget = settings.context_tokens;
  const figure = h('output', { for: 'budget' }, plural(budget.value, 'token'));
  const drag = debounce(80, show);
  const moved = () => fill(figure, plural(Number(slider.value), 'token'));
  const moveBack = () => {
    slider.value = String(budget.value);
    moved();
  };
  const slider = h('input', {
    id: 'budget', type: 'range', min: String(budget.min), max: String(budget.max), step: String(STEP), value: String(budget.value), disabled: budget.source === 'env',
    oninput: () => { moved(); drag(slider.value); },
    onchange: () => save('context_tokens', Number(slider.value), moveBack),
  });
  const toggle = ([key, name]) => {
    const box = h('input', {
      type: 'checkbox', checked: settings[key].value === true, disabled: settings[key].source === 'env',
      onchange: () => save(key, box.checked, () => (box.checked = !box.checked)),
    });
    return h('label', { class: 'check' }, box, name);
  };
  const controls = h(
    'fieldset',
    { class: 'controls' },
    h('legend', { class: 'sr' }, 'What goes in'),
    h('label', { class: 'filter grow', for: 'budget' }, h('span', {}, 'Budget ', figure), slider),
    h('div', { class: 'checks' }, SWITCHES.filter(([key]) => settings[key]).map(toggle)),
  );
  const stored = throttle(500, () => show());
  const counts = new Set(['observation', 'summary', 'removed', 'missed', 'resumed']);
  world.listen(({ name }) => counts.has(name) && stored());
  show();
  const about = h('p', { class: 'note' }, 'What a session that starts now in ', h('strong', {}, project.name), ' would be told, to the letter. Changes are kept in your settings.');
  return [title, about, controls, used, out];
}

const leftOut = ({ leftOut: n }) => n > 0 && `; ${plural(n, 'memory', 'memories')} left out`;
const usedOf = (block) => block.text && [`${count(block.tokens)} of ${plural(block.budget, 'token')}`, leftOut(block)];

function preview(block) {
  if (!block.settings.context) return state('It would be told nothing', 'Telling is switched off above.');
  if (!block.text) return state('It would be told nothing', 'There is nothing to remember in this project yet.');
  const share = Math.min(block.tokens / Math.max(block.budget, 1), 1);
  const columns = [
    { name: 'Memory', cell: (item) => named(item, mark(item.type || 'summary')) },
    { name: 'Worth', cell: (item) => item.value.toFixed(1), figure: true },
    { name: 'Tokens', cell: (item) => count(item.tokens), figure: true },
    { name: 'Because', cell: (item) => item.reason },
  ];
  return [
    h('div', { class: 'meter', role: 'meter', 'aria-valuenow': String(block.tokens), 'aria-valuemin': '0', 'aria-valuemax': String(block.budget), 'aria-label': 'Tokens used' }, h('span', { style: { inlineSize: `${share * 100}%` } })),
    h('pre', { class: 'context', tabindex: '0', role: 'region', 'aria-label': 'The text' }, block.text),
    block.items.length > 0 && [
      h('h2', {}, 'Why these'),
      table('Why these', columns, block.items),
    ],
  ];
}
