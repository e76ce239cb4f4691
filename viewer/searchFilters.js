// The filters of a search: type, concept, file, period and agent.

import { agentFilter } from './agents.js';
import { get } from './api.js';
import { debounce, fill, h, trouble } from './dom.js';
import { KINDS, nameOf, TYPES } from './texts.js';
import { toast } from './toasts.js';

/** Of so many of the latest memories, concepts are offered. */
const OFFERED_OF = 200;
export const FILTERS = ['kind', 'type', 'concept', 'file', 'agent', 'since', 'until', 'wrong'];
const PERIODS = [['', 'Any time'], ['1d', 'Last 24 hours'], ['7d', 'Last 7 days'], ['30d', 'Last 30 days'], ['90d', 'Last 90 days'], ['custom', 'From … to …']];

/** The filters of an address. Only memories have a type: a kind beside it is ignored. */
export function paramsOf(value) {
  const all = Object.fromEntries(FILTERS.map((name) => [name, value(name)]));
  return all.type ? { ...all, kind: '' } : all;
}

/** The form. `value(name)` is a filter of the address; `choose` is called with the chosen filters. */
export function filtersOf(world, value, choose) {
  const go = () => choose(chosen());
  const later = debounce(150, go);
  const filter = (label, control, more = {}) => h('label', { class: 'filter', ...more }, h('span', {}, label), control);
  const input = (name, type, more = {}) => h('input', { name, type, value: value(name), oninput: later, ...more });
  const types = [...new Set([...TYPES, value('type')])].filter(Boolean);
  const option = ([text, name]) => h('option', { value: text }, name);
  const what = h('select', { name: 'type', onchange: later }, option(['', 'Any']), option(['kind:observation', 'Memories']), h('optgroup', { label: 'Memories' }, types.map((type) => option([`type:${type}`, nameOf(type)]))), h('optgroup', { label: 'What was said' }, KINDS.map(([kind, name]) => option([`kind:${kind}`, name]))));
  const period = h('select', { name: 'period', onchange: () => { show(true); if (period.value !== 'custom') later(); } }, PERIODS.map(option));
  const agent = agentFilter(() => value('agent'), later);
  const since = filter('From', input('since', 'date'), { hidden: true });
  const until = filter('To', input('until', 'date'), { hidden: true });
  const isDate = (text) => /^\d{4}-\d\d-\d\d$/.test(text);
  const chosen = () => {
    const data = new FormData(form);
    const [name, text] = what.value.split(':');
    const times = period.value === 'custom' ? [['since', data.get('since')], ['until', data.get('until')]] : [['since', period.value]];
    return [[name, text], ['concept', data.get('concept')], ['file', data.get('file')], ['agent', agent.select.value], ...times, ['wrong', data.get('wrong')]].filter(([, one]) => one);
  };
  const clear = () => {
    what.value = '';
    period.value = '';
    agent.select.value = '';
    for (const name of ['concept', 'file', 'since', 'until']) form.elements[name].value = '';
    form.elements.wrong.checked = false;
    later.now();
    // The button disappears with the filters.
    form.elements[0].focus();
  };
  const button = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: clear }, 'Clear filters');
  const form = h(
    'form',
    { class: 'filters', 'aria-label': 'Filters', onsubmit: (event) => { event.preventDefault(); later.now(); } },
    filter('Type', what),
    filter('Concept', offered('concept', value('concept'), later, () => conceptsOf(world))),
    filter('File', input('file', 'text', { autocomplete: 'off', placeholder: 'path or name' })),
    filter('Period', period),
    agent.label,
    since,
    until,
    h('label', { class: 'check' }, h('input', { name: 'wrong', type: 'checkbox', value: 'true', onchange: later }), 'Include wrong'),
    button,
  );
  /** Shows the filters of the address. A field that is being typed in keeps its text. */
  const show = (isChosen = false) => {
    if (!isChosen) {
      what.value = value('type') ? `type:${value('type')}` : value('kind') ? `kind:${value('kind')}` : '';
      const isCustom = isDate(value('since')) || value('until');
      period.value = isCustom ? 'custom' : value('since');
      for (const name of ['concept', 'file', 'since', 'until']) if (form.elements[name] !== document.activeElement) form.elements[name].value = name === 'since' && !isDate(value('since')) ? '' : value(name);
      form.elements.wrong.checked = value('wrong') !== '';
      agent.show();
    }
    for (const one of [since, until]) one.hidden = period.value !== 'custom';
    button.hidden = !FILTERS.some(value);
  };
  return { form, show, clear };
}

/** A field with the concepts that there are; any part of a concept fits. */
function offered(name, value, go, load) {
  const options = h('datalist', { id: `known-${name}` });
  let isLoaded = false;
  const offer = async () => {
    if (isLoaded) return;
    isLoaded = true;
    try {
      const known = await load();
      fill(options, known.map((text) => h('option', { value: text })));
    } catch (error) {
      // Asked for again at the next focus.
      isLoaded = false;
      toast(`Concepts could not be loaded: ${trouble(error)}`);
    }
  };
  return [h('input', { name, type: 'text', value, list: options.id, autocomplete: 'off', dir: 'auto', onfocus: offer, oninput: go, onchange: go }), options];
}

/** The concepts of the latest memories, the most frequent first. */
async function conceptsOf(world) {
  const { items } = await get('/api/observations', { limit: OFFERED_OF, project: world.project });
  const counts = new Map();
  for (const text of items.flatMap((row) => row.concepts)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([text]) => text);
}
