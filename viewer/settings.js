// Settings, each with its help, made from what the worker says about them.

import { get, patch, post } from './api.js';
import { fill, h, toast } from './dom.js';

export async function settings(world) {
  const { items } = await get('/api/settings');
  const status = await get('/api/processing-status');
  const groups = Map.groupBy ? Map.groupBy(items, (item) => item.group) : items.reduce((map, item) => map.set(item.group, [...(map.get(item.group) ?? []), item]), new Map());
  return [
    h('h1', {}, 'Settings'),
    pause(status.paused, world),
    [...groups].map(([name, group]) => h('section', { class: 'group' }, h('h2', {}, name), group.map(field))),
  ];
}

function pause(paused, world) {
  const turn = async (path, said) => {
    await post(path);
    toast(said);
    world.refresh();
  };
  return h(
    'p',
    { class: 'note' },
    paused ? 'Capture is paused: nothing new is remembered. ' : 'Everything new is remembered. ',
    paused
      ? h('button', { type: 'button', onclick: () => turn('/api/resume', 'Remembering again.') }, 'Resume')
      : h('button', { type: 'button', onclick: () => turn('/api/pause', 'Paused.') }, 'Pause'),
  );
}

function field(item) {
  const id = `set-${item.key}`;
  const problem = h('p', { class: 'problem', id: `${id}-problem`, role: 'alert' });
  const source = h('span', { class: 'tag' }, item.source);
  const save = async (value) => {
    try {
      const { items } = await patch('/api/settings', { [item.key]: value });
      fill(problem);
      fill(source, items.find((other) => other.key === item.key)?.source ?? '');
      toast(`${item.key} saved`);
    } catch (error) {
      fill(problem, [error.message, error.hint].filter(Boolean).join(' — '));
    }
  };
  return h(
    'div',
    { class: 'setting' },
    h('label', { for: id, class: 'setting-name' }, h('code', {}, item.key), source),
    control(item, id, save),
    h('p', { class: 'help', id: `${id}-help` }, item.help),
    problem,
  );
}

function control(item, id, save) {
  const common = { id, 'aria-describedby': `${id}-help ${id}-problem`, disabled: item.source === 'env' };
  if (item.type === 'bool') return h('input', { ...common, type: 'checkbox', class: 'switch', role: 'switch', checked: item.value === true, onchange: (event) => save(event.target.checked) });
  if (item.type === 'enum') return h('select', { ...common, onchange: (event) => save(event.target.value) }, item.choices.map((choice) => h('option', { value: choice, selected: choice === item.value }, choice)));
  if (item.type === 'int') return h('input', { ...common, type: 'number', min: item.min, max: item.max, value: String(item.value ?? ''), placeholder: String(item.default ?? ''), onchange: (event) => save(event.target.value === '' ? null : Number(event.target.value)) });
  if (item.type === 'list') return h('input', { ...common, value: (item.value ?? []).join(', '), onchange: (event) => save(event.target.value.split(',').map((word) => word.trim()).filter(Boolean)) });
  if (item.type === 'secret') return h('input', { ...common, type: 'password', autocomplete: 'off', placeholder: item.set ? 'set; type to replace it' : 'not set', onchange: (event) => save(event.target.value || null) });
  return h('input', { ...common, value: item.value ?? '', placeholder: item.default ?? '', onchange: (event) => save(event.target.value || null) });
}
