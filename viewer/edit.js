// Writing memories by hand: changing one, and adding one.

import { post } from './api.js';
import { dialog, fill, h, trouble } from './dom.js';
import { toast } from './toasts.js';
import { nameOf, TEXTS, TYPES } from './texts.js';
import { isDone, watch } from './unsavedText.js';

const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean);
const words = (text) => text.split(',').map((word) => word.trim()).filter(Boolean);
const option = (value, chosen, name = value) => h('option', { value, selected: value === chosen }, name);

function field(label, name, value, rows, more = {}) {
  const props = { name, dir: 'auto', ...more };
  const control = rows ? h('textarea', { rows: String(rows), ...props }, value ?? '') : h('input', { value: value ?? '', ...props });
  return h('label', { class: 'field' }, h('span', {}, label), control);
}

function choice(label, name, options) {
  return h('label', { class: 'field' }, h('span', {}, label), h('select', { name }, options));
}

/** How the fields of the form are read. */
const READ = { facts: lines, concepts: words };

/** The fields that differ from `before`. Untouched fields are not sent: they may have been edited elsewhere
 *  meanwhile, and a list that was not edited keeps its commas. */
function changed(before, form) {
  const now = Object.entries(Object.fromEntries(new FormData(form)));
  const touched = now.filter(([name, text]) => text !== before[name]);
  return Object.fromEntries(touched.map(([name, text]) => [name, READ[name] ? READ[name](text) : text]));
}

/** Puts a form for this row into `place`. */
export function edit(place, row, { save, cancel }) {
  const problem = h('p', { class: 'problem', role: 'alert' });
  const types = TYPES.includes(row.type) ? TYPES : [...TYPES, row.type];
  const submit = async (event) => {
    event.preventDefault();
    const what = changed(before, form);
    try {
      // If saving fails, the form stays and shows the error.
      if (!Object.keys(what).length) cancel();
      else if ((await save(what, form)) === false) return;
      isDone(form);
    } catch (error) {
      fill(problem, trouble(error));
    }
  };
  const leave = h('button', { type: 'button' }, 'Cancel');
  const form = h(
    'form',
    { class: 'edit', onsubmit: submit },
    field('Title', 'title', row.title, 0, { required: true }),
    choice('Type', 'type', types.map((type) => option(type, row.type, nameOf(type)))),
    field('Subtitle', 'subtitle', row.subtitle),
    field('Narrative', 'narrative', row.narrative, 5),
    field('Facts, one per line', 'facts', (row.facts ?? []).join('\n'), 4),
    field('Concepts, separated by commas', 'concepts', (row.concepts ?? []).join(', ')),
    problem,
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Save'), leave),
  );
  const before = Object.fromEntries(new FormData(form));
  fill(place, form);
  leave.addEventListener('click', watch(form, cancel));
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
  const everywhere = h('input', { type: 'checkbox', name: 'global', checked: !world.projects.length, disabled: !world.projects.length, onchange: () => (project.disabled = everywhere.checked) });
  const save = async (event) => {
    event.preventDefault();
    const { text, title, type, project: id } = Object.fromEntries(new FormData(form));
    try {
      const row = await post('/api/memory/save', { text, title: title || undefined, type, project: id || undefined, global: everywhere.checked });
      isDone(form);
      box.close();
      toast(`Saved as ${row.handle}`);
    } catch (error) {
      fill(problem, trouble(error));
    }
  };
  const leave = h('button', { type: 'button' }, 'Cancel');
  const form = h(
    'form',
    { onsubmit: save },
    field('Memory', 'text', '', 5, { required: true }),
    field('Title', 'title', '', 0, { placeholder: 'the first sentence' }),
    h('div', { class: 'pair' },
      choice('Type', 'type', TYPES.map((type) => option(type, 'decision', nameOf(type)))),
      world.projects.length > 0 && h('label', { class: 'field' }, h('span', {}, 'Project'), project)),
    h('label', { class: 'check' }, everywhere, TEXTS.everyProject, !world.projects.length && h('span', { class: 'soft' }, '(there is no project yet)')),
    problem,
    h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Save'), leave),
  );
  const box = dialog('Add a memory', form);
  project.disabled = everywhere.checked;
  const close = watch(form, () => box.close());
  leave.addEventListener('click', close);
  box.addEventListener('close', () => document.dispatchEvent(new Event('free')));
  // Where there is no key for it, as on a phone, a dialog is closed by other means.
  box.addEventListener('cancel', (event) => {
    event.preventDefault();
    close();
  });
}
