// Writing memories by hand: changing one, and adding one.

import { post } from './api.js';
import { dialog, fill, h, toast, trouble } from './dom.js';
import { nameOf, TYPES } from './words.js';

const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);
const words = (text) => text.split(',').map((word) => word.trim()).filter(Boolean);
const option = (value, chosen, name = value) => h('option', { value, selected: value === chosen }, name);

function field(label, name, value, rows, more = {}) {
  const control = rows ? h('textarea', { rows: String(rows), name, ...more }, value ?? '') : h('input', { name, value: value ?? '', ...more });
  return h('label', { class: 'field' }, h('span', {}, label), control);
}

/** Puts a form for this row into `place`. */
export function edit(place, row, { save, cancel }) {
  const problem = h('p', { class: 'problem', role: 'alert' });
  const types = TYPES.includes(row.type) ? TYPES : [...TYPES, row.type];
  const submit = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(form));
    try {
      await save({ type: values.type, title: values.title, subtitle: values.subtitle, narrative: values.narrative, facts: lines(values.facts), concepts: words(values.concepts) });
    } catch (error) {
      fill(problem, trouble(error));
    }
  };
  const keys = (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    cancel();
  };
  const form = h(
    'form',
    { class: 'edit', onsubmit: submit, onkeydown: keys },
    field('Title', 'title', row.title, 0, { required: true }),
    h('label', { class: 'field' }, h('span', {}, 'Type'), h('select', { name: 'type' }, types.map((type) => option(type, row.type, nameOf(type))))),
    field('Subtitle', 'subtitle', row.subtitle),
    field('Narrative', 'narrative', row.narrative, 5),
    field('Facts, one a line', 'facts', (row.facts ?? []).join('\n'), 4),
    field('Concepts, separated by commas', 'concepts', (row.concepts ?? []).join(', ')),
    problem,
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Save'), h('button', { type: 'button', onclick: cancel }, 'Cancel')),
  );
  fill(place, form);
  form.querySelector('input').focus();
}

/** Asks for a new memory. It appears by itself, like all others. */
export async function add(world) {
  await world.known;
  // Asked for twice while it was on its way.
  if (document.querySelector('dialog')) return;
  const problem = h('p', { class: 'problem', role: 'alert' });
  const chosen = world.project || String(world.projects[0]?.id ?? '');
  const project = h('select', { name: 'project' }, world.projects.map((one) => option(String(one.id), chosen, one.name)));
  const everywhere = h('input', { type: 'checkbox', name: 'global', checked: !world.projects.length, onchange: () => (project.disabled = everywhere.checked) });
  const save = async (event) => {
    event.preventDefault();
    const values = Object.fromEntries(new FormData(event.target));
    try {
      const row = await post('/api/memory/save', { text: values.text, title: values.title || undefined, type: values.type, project: values.project || undefined, global: everywhere.checked });
      box.close();
      toast(`Saved as ${row.handle}`);
    } catch (error) {
      fill(problem, trouble(error));
    }
  };
  const box = dialog(
    'Add a memory',
    h(
      'form',
      { onsubmit: save },
      field('What should be remembered', 'text', '', 5, { required: true }),
      field('Title', 'title', '', 0, { placeholder: 'the first sentence' }),
      h('div', { class: 'pair' },
        h('label', { class: 'field' }, h('span', {}, 'Type'), h('select', { name: 'type' }, TYPES.map((type) => option(type, 'decision', nameOf(type))))),
        h('label', { class: 'field' }, h('span', {}, 'Project'), project)),
      h('label', { class: 'check' }, everywhere, 'It holds in every project'),
      problem,
      h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Save'), h('button', { type: 'button', onclick: () => box.close() }, 'Cancel')),
    ),
  );
  project.disabled = everywhere.checked;
}
