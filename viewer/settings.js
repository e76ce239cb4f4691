// Settings, each with its help, made from what the worker says about them.

import { get, patch, post } from './api.js';
import { coded, fill, h, state, toast, trouble } from './dom.js';
import { time } from './times.js';

export async function settings(world) {
  const [{ items, warnings }, status] = await Promise.all([get('/api/settings'), get('/api/processing-status')]);
  const groups = new Map();
  for (const item of items) groups.set(item.group, [...(groups.get(item.group) ?? []), item]);
  const sections = [...groups].map(([name, group]) => h('section', { class: 'group', 'aria-label': name }, h('h2', {}, name), h('div', { class: 'sheet' }, group.map(field))));
  const none = h('div', { hidden: true }, state('No setting is called so', 'Try a part of its name or of its help.'));
  const sift = (event) => {
    const wanted = event.target.value.trim().toLowerCase();
    let left = 0;
    for (const section of sections) {
      let here = 0;
      for (const one of section.querySelectorAll('.setting')) {
        one.hidden = !one.textContent.toLowerCase().includes(wanted);
        here += one.hidden ? 0 : 1;
      }
      section.hidden = here === 0;
      left += here;
    }
    none.hidden = left > 0;
  };
  return [
    h('div', { class: 'bar-top' }, h('h1', {}, 'Settings'), h('input', { type: 'search', placeholder: 'Find a setting', 'aria-label': 'Find a setting', oninput: sift })),
    warnings?.length > 0 && h('ul', { class: 'problems' }, warnings.map((text) => h('li', {}, text))),
    pause(status, world),
    sections,
    none,
  ];
}

function pause({ paused, pause }, world) {
  const turn = (path, body, said) => async () => {
    try {
      await post(path, body);
      toast(said);
      world.refresh();
    } catch (error) {
      toast(trouble(error));
    }
  };
  const button = (name, ...how) => h('button', { type: 'button', onclick: turn(...how) }, name);
  const until = pause?.until ? ` until ${time(pause.until)}` : '';
  return h(
    'div',
    { class: 'banner', 'data-state': paused ? 'paused' : 'on' },
    h('p', {}, paused ? `Capture is paused${until}: nothing new is remembered.` : 'What happens in your sessions is remembered.'),
    paused
      ? button('Resume', '/api/resume', {}, 'Remembering again.')
      : [button('Pause for an hour', '/api/pause', { minutes: 60 }, 'Paused for an hour.'), button('Pause', '/api/pause', {}, 'Paused.')],
  );
}

const SOURCES = { default: 'default', file: 'set', env: 'from the environment' };
const nameOf = (key) => (key.charAt(0).toUpperCase() + key.slice(1)).replaceAll('_', ' ');

function field(item) {
  const id = `set-${item.key}`;
  const problem = h('p', { class: 'problem', id: `${id}-problem`, role: 'alert' });
  const box = h('div', { class: 'setting' });
  const save = async (value) => {
    try {
      const { items } = await patch('/api/settings', { [item.key]: value });
      draw(items.find((other) => other.key === item.key) ?? item);
      toast(value === null ? `\`${item.key}\` is back to its default` : `\`${item.key}\` is saved`);
    } catch (error) {
      fill(problem, trouble(error));
      document.getElementById(id)?.setAttribute('aria-invalid', 'true');
    }
  };
  const draw = (item) => {
    const had = box.contains(document.activeElement);
    fill(problem);
    const reset = item.source === 'file' && h('button', { type: 'button', class: 'quiet small', 'aria-label': `Reset ${item.key}`, onclick: () => save(null) }, 'Reset');
    fill(
      box,
      h('div', { class: 'setting-about' },
        h('label', { for: id, class: 'setting-name' }, nameOf(item.key)),
        h('p', { class: 'help', id: `${id}-help` }, coded(item.help), item.restart && ' Holds from the worker’s next start.'),
        h('p', { class: 'meta' }, h('code', {}, item.key), h('span', {}, SOURCES[item.source]), range(item), reset)),
      h('div', { class: 'setting-control' }, control(item, id, save), problem),
    );
    if (had) document.getElementById(id)?.focus({ preventScroll: true });
  };
  draw(item);
  return box;
}

const range = ({ type, min, max }) => type === 'int' && max != null && h('span', {}, `${min} to ${max}`);

function control(item, id, save) {
  const common = { id, 'aria-describedby': `${id}-help ${id}-problem`, disabled: item.source === 'env' };
  const text = (more, read) => h('input', { ...common, ...more, onchange: (event) => save(read(event.target.value.trim())) });
  switch (item.type) {
    case 'bool':
      return h('input', { ...common, type: 'checkbox', class: 'switch', role: 'switch', checked: item.value === true, onchange: (event) => save(event.target.checked) });
    case 'enum':
      return h('select', { ...common, onchange: (event) => save(event.target.value) }, item.choices.map((choice) => h('option', { value: choice, selected: choice === item.value }, choice)));
    case 'int':
      return text({ inputmode: 'numeric', value: String(item.value ?? ''), placeholder: String(item.default ?? '') }, (value) => (value === '' ? null : /^-?\d+$/.test(value) ? Number(value) : value));
    case 'list': {
      const read = (event) => save(event.target.value.split(/[,\n]/).map((word) => word.trim()).filter(Boolean));
      return h('textarea', { ...common, rows: (item.value ?? []).length > 3 ? '4' : '1', placeholder: 'separated by commas', onchange: read }, (item.value ?? []).join(', '));
    }
    case 'secret':
      return text({ type: 'password', autocomplete: 'off', placeholder: item.set ? 'is set; type to replace it' : 'not set' }, (value) => value || null);
    default:
      return text({ value: item.value ?? '', placeholder: item.default ?? '', spellcheck: 'false' }, (value) => value || null);
  }
}
