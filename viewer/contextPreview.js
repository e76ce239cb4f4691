// The context of the next session, line by line, and the settings that change it.

import { get, patch } from './api.js';
import { contextLines, memoriesIn } from './contextLines.js';
import { debounce, failure, fill, h, loading, redraw, state, throttle, trouble } from './dom.js';
import { count, plural } from './format.js';
import { recallTry } from './recallTry.js';
import { toast } from './toasts.js';

const SWITCHES = [
  ['context', 'Inject memories'], ['context_summary', 'The last session'], ['context_index', 'Earlier memories'],
  ['context_preferences', 'Preferences'], ['context_economics', 'The cost line'],
];
const STEP = 50;

export async function contextPreview(world) {
  const title = h('h1', {}, 'Context preview');
  await world.known;
  // There may be none; or they could not be loaded then, and the error is shown now.
  if (!world.projects.length) world.projects = (await get('/api/projects')).items;
  const project = world.projects.find((one) => String(one.id) === world.project) ?? world.projects[0];
  if (!project) return [title, state('No project yet', 'Start a session in a project, then come back.')];
  const settings = Object.fromEntries((await get('/api/settings')).items.map((item) => [item.key, item]));
  // Of all that changes, this line alone is read out.
  const used = h('p', { class: 'note', role: 'status' });
  const out = h('div', {}, loading());
  let turn = 0;
  const show = async (tokens = budget.asked()) => {
    const mine = ++turn;
    try {
      const block = await get('/api/context/preview', { project: project.id, tokens });
      if (mine !== turn) return;
      fill(used, usedOf(block));
      redraw(out, preview(block, show));
    } catch (error) {
      if (mine === turn) fill(out, failure(error, () => show(tokens)));
    }
  };
  /** A setting that could not be saved returns to its stored value. */
  const save = async (key, value, undo) => {
    try {
      await patch('/api/settings', { [key]: value });
      settings[key].value = value;
      toast('Saved in your settings.');
    } catch (error) {
      undo();
      toast(trouble(error));
    }
    await show();
  };
  const budget = budgetControl(settings.context_tokens, show, save);
  const toggle = ([key, name]) => {
    const box = h('input', {
      type: 'checkbox', checked: settings[key].value === true, disabled: settings[key].source === 'env',
      onchange: () => save(key, box.checked, () => (box.checked = !box.checked)),
    });
    return h('label', { class: 'check' }, box, name);
  };
  const controls = h('fieldset', { class: 'controls' }, h('legend', { class: 'sr' }, 'What goes in'), budget.content, h('div', { class: 'checks' }, SWITCHES.filter(([key]) => settings[key]).map(toggle)));
  const stored = throttle(500, () => show());
  const counts = new Set(['observation', 'summary', 'account', 'removed', 'missed', 'resumed']);
  world.listen(({ name }) => counts.has(name) && stored());
  show();
  const about = h('p', { class: 'note' }, 'What a session that starts now in ', h('strong', {}, project.name), ' receives, to the letter. Pin or forget a line to change it. ', h('a', { href: '#try' }, 'Try a prompt, a file or an error'));
  return [title, about, controls, used, out, recallTry(project)];
}

/** The budget as an experiment: nothing is stored until it is saved. */
function budgetControl(item, show, save) {
  const figure = h('output', { for: 'budget' }, plural(item.value, 'token'));
  const drag = debounce(80, () => show());
  const isChanged = () => Number(slider.value) !== item.value;
  const moved = () => {
    fill(figure, plural(Number(slider.value), 'token'));
    actions.hidden = !isChanged();
  };
  const back = () => {
    slider.value = String(item.value);
    moved();
    show();
  };
  const slider = h('input', {
    id: 'budget', type: 'range', min: String(item.min), max: String(item.max), step: String(STEP), value: String(item.value), disabled: item.source === 'env',
    oninput: () => { moved(); drag(); },
  });
  const keep = async () => {
    const value = Number(slider.value);
    await save('context_tokens', value, back);
    moved();
    slider.focus();
  };
  const actions = h('div', { class: 'actions', hidden: true }, h('button', { type: 'button', class: 'small primary', onclick: keep }, 'Save this budget'), h('button', { type: 'button', class: 'small', onclick: () => { back(); slider.focus(); } }, 'Back to the saved one'));
  const content = [h('label', { class: 'filter grow', for: 'budget' }, h('span', {}, 'What if the budget were ', figure), slider), actions];
  return { content, asked: () => (isChanged() ? slider.value : undefined) };
}

const usedOf = (block) => block.text && `${count(block.tokens)} of ${plural(block.budget, 'token')}; ${count(memoriesIn(block).length)} of ${plural(block.known, 'memory', 'memories')} in the project`;

function preview(block, show) {
  if (!block.settings.context) return state('The session receives nothing', 'Injection is switched off above.');
  if (!block.text) return state('The session receives nothing', 'This project has no memories yet.');
  const share = Math.min(block.tokens / Math.max(block.budget, 1), 1);
  return [
    h('div', { class: 'meter', role: 'meter', 'aria-valuenow': String(block.tokens), 'aria-valuemin': '0', 'aria-valuemax': String(block.budget), 'aria-label': 'Tokens used' }, h('span', { style: { inlineSize: `${share * 100}%` } })),
    contextLines(block, show),
  ];
}
