// Settings, each with its help, from the descriptions that the worker sends.

import { get, patch, post } from './api.js';
import { coded, fill, h, state, trouble } from './dom.js';
import { time } from './dates.js';
import { roving } from './roving.js';
import { TEXTS } from './texts.js';
import { toast } from './toasts.js';
import { count } from './format.js';

export async function settings(world) {
  const [{ items, warnings, restartNeeded }, status] = await Promise.all([get('/api/settings'), get('/api/processing-status')]);
  const groups = new Map();
  for (const item of items) groups.set(item.group, [...(groups.get(item.group) ?? []), item]);
  const restart = restartBanner(restartNeeded);
  const sections = [...groups].map(([name, group]) => sectionOf(name, group, restart.show));
  const none = h('div', { hidden: true }, state('No such setting', 'Try a part of its name or of its help text.'));
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
      const advanced = section.querySelector('details');
      if (advanced) {
        const inside = advanced.querySelectorAll('.setting:not([hidden])').length;
        advanced.hidden = inside === 0;
        advanced.open = wanted !== '' && inside > 0;
      }
      left += here;
    }
    none.hidden = left > 0;
  };
  return [
    h('div', { class: 'bar-top' }, h('h1', {}, 'Settings'), h('input', { type: 'search', placeholder: 'Find a setting', 'aria-label': 'Find a setting', oninput: sift })),
    warnings?.length > 0 && h('ul', { class: 'problems' }, warnings.map((text) => h('li', {}, text))),
    restart.banner,
    pause(status, world),
    roving(h('nav', { class: 'picks', 'aria-label': 'Sections' }, [...groups.keys()].map((name) => h('a', { class: 'pick', href: `#settings-${slug(name)}` }, name)))),
    sections,
    none,
  ];
}

const slug = (name) => name.toLowerCase().replace(/\W+/g, '-');

/** Settings that few people change: folded. */
const ADVANCED = new Set(['base_url', 'model_seconds', 'parallel_sessions', 'budget_tokens_per_session', 'vocabulary', 'context_economics', 'recall_prompt_tokens', 'recall_file_tokens', 'recall_failure_tokens', 'worker', 'worker_idle_minutes', 'viewer_open', 'backups_keep', 'backups_bytes_max', 'log_days', 'log_bytes_max', 'skip_tools']);

function sectionOf(name, group, changed) {
  const [usual, advanced] = [group.filter((item) => !ADVANCED.has(item.key)), group.filter((item) => ADVANCED.has(item.key))];
  const sheet = (items) => h('div', { class: 'sheet' }, items.map((item) => field(item, changed)));
  return h(
    'section',
    { class: 'group', 'aria-label': name, id: `settings-${slug(name)}` },
    h('h2', {}, name),
    usual.length > 0 && sheet(usual),
    advanced.length > 0 && h('details', { class: 'advanced' }, h('summary', {}, `Advanced: ${advanced.map((item) => called(item.key).toLowerCase()).join(', ')}`), sheet(advanced)),
  );
}

/** The notice that a restart is needed: `keys` are the settings whose values the worker does not use yet. */
function restartBanner(keys) {
  const banner = h('div', { class: 'banner', 'data-state': 'paused', role: 'status', hidden: true });
  const restart = async () => {
    try {
      const { movesTo } = await post('/api/worker/restart', { confirm: true });
      show([]);
      if (movesTo) {
        // A page cannot follow: its key belongs to this address.
        banner.hidden = false;
        fill(banner, h('p', {}, `The worker restarts on port ${movesTo}. Open the page there by `, h('code', {}, 'claude-mem open'), '.'));
      } else toast('The worker restarts; this page reconnects by itself.');
    } catch (error) {
      toast(trouble(error));
    }
  };
  const show = (needed) => {
    banner.hidden = needed.length === 0;
    const takes = needed.length === 1 ? 'takes' : 'take';
    fill(banner, needed.length > 0 && [h('p', {}, `${TEXTS.restart}: ${needed.map(called).join(', ')} ${takes} effect when the worker restarts.`), h('button', { type: 'button', onclick: restart }, 'Restart')]);
  };
  show(keys);
  return { banner, show };
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
    h('p', {}, paused ? `Capture is paused${until}: new sessions are not remembered.` : 'Capture is on: new sessions are remembered.'),
    paused
      ? button('Resume', '/api/resume', {}, 'Capture resumed.')
      : [button('Pause for an hour', '/api/pause', { minutes: 60 }, 'Paused for an hour.'), button('Pause', '/api/pause', {}, 'Paused.')],
  );
}

const SOURCES = { default: 'default', file: 'set', env: 'from the environment' };
/** Names of settings whose key is not clear enough. */
const NAMES = {
  skip_tools: 'Tools to skip', ignore_projects: 'Projects to ignore', ignore_paths: 'Files to ignore', prompts_days_max: 'Days to keep prompts', memories_days_max: 'Days to keep memories',
  base_url: 'Address of the provider', api_key: 'API key', api_key_file: 'File with the API key', claude_program: 'Program of Claude Code', claude_variables: 'Variables for Claude Code', budget_tokens_per_day: 'Tokens per day', budget_tokens_per_session: 'Tokens per session', model_seconds: 'Seconds per call', parallel_sessions: 'Sessions at once',
  context: 'Inject memories', context_tokens: 'Tokens for a new session', context_summary: 'The last session', context_index: 'Earlier memories', context_preferences: 'Preferences', context_economics: 'The cost line', agent_notes: 'Ask the agent to save rules',
  recall_prompt: 'Recall with a prompt', recall_prompt_tokens: 'Tokens with a prompt', recall_file: 'Recall with a file', recall_file_tokens: 'Tokens with a file', recall_failure: 'Recall after a failure', recall_failure_tokens: 'Tokens after a failure', show_message: 'A line for you',
  vectors: 'Search by meaning', worker: 'Start of the worker', worker_idle_minutes: 'Minutes until the worker ends', viewer_open: 'Open the browser',
  backups_keep: 'Backups to keep', backups_bytes_max: 'Space for backups', team_never: 'Files that are not shared', team_requests: 'Share requests', log_days: 'Days to keep logs', log_bytes_max: 'Space for logs',
};
const called = (key) => NAMES[key] ?? (key.charAt(0).toUpperCase() + key.slice(1)).replaceAll('_', ' ');

function field(item, changed) {
  const id = `set-${item.key}`;
  const problem = h('p', { class: 'problem', id: `${id}-problem`, role: 'alert' });
  const box = h('div', { class: 'setting' });
  let known = item;
  const save = async (value) => {
    try {
      const { items, restartNeeded } = await patch('/api/settings', { [item.key]: value });
      draw(items.find((other) => other.key === item.key) ?? item);
      changed(restartNeeded);
      toast(`${called(item.key)}: ${value === null ? 'back to its default' : 'saved'}.`);
    } catch (error) {
      // A switch shows the stored value; typed text stays, to be corrected.
      if (known.type === 'bool' || known.type === 'enum') draw(known);
      fill(problem, trouble(error));
      document.getElementById(id)?.setAttribute('aria-invalid', 'true');
    }
  };
  const draw = (item) => {
    known = item;
    const had = box.contains(document.activeElement);
    fill(problem);
    const reset = item.source === 'file' && h('button', { type: 'button', class: 'quiet small', 'aria-label': `Reset ${called(item.key)}`, onclick: () => save(null) }, 'Reset');
    fill(
      box,
      h('div', { class: 'setting-about' },
        h('label', { for: id, class: 'setting-name' }, called(item.key)),
        h('p', { class: 'help', id: `${id}-help` }, coded(item.help)),
        h('p', { class: 'meta' }, h('code', {}, item.key), h('span', {}, SOURCES[item.source]), range(item), reset)),
      h('div', { class: 'setting-control' }, control(item, id, save), problem),
    );
    if (had) document.getElementById(id)?.focus({ preventScroll: true });
  };
  draw(item);
  return box;
}

const isSize = ({ key }) => key.endsWith('_bytes_max');
/** A size as it can also be typed: 1G, 32M. Other sizes stay numbers. */
function size(n) {
  const [unit, step] = [['T', 2 ** 40], ['G', 2 ** 30], ['M', 2 ** 20], ['K', 2 ** 10]].find(([, one]) => n >= one && n % one === 0) ?? ['', 1];
  return `${n / step}${unit}`;
}
const shown = (item, n) => (isSize(item) ? size(n) : count(n));
const range = (item) => item.type === 'int' && item.max != null && h('span', {}, `${shown(item, item.min)} to ${shown(item, item.max)}`);

function control(item, id, save) {
  const common = { id, 'aria-describedby': `${id}-help ${id}-problem`, disabled: item.source === 'env' };
  const text = (more, read) => h('input', { ...common, ...more, onchange: (event) => save(read(event.target.value.trim())) });
  switch (item.type) {
    case 'bool':
      return h('input', { ...common, type: 'checkbox', class: 'switch', role: 'switch', checked: item.value === true, onchange: (event) => save(event.target.checked) });
    case 'enum':
      return h('select', { ...common, onchange: (event) => save(event.target.value) }, item.choices.map((choice) => h('option', { value: choice, selected: choice === item.value }, choice)));
    case 'int':
      return text({ inputmode: isSize(item) ? 'text' : 'numeric', value: isSize(item) && item.value != null ? size(item.value) : String(item.value ?? ''), placeholder: String(item.default ?? '') }, (value) => (value === '' ? null : /^-?\d+$/.test(value) ? Number(value) : value));
    case 'list': {
      // One per line: a pattern may contain commas.
      const read = (event) => save(event.target.value.split('\n').map((word) => word.trim()).filter(Boolean));
      const rows = String(Math.min(Math.max((item.value ?? []).length, 1), 6));
      return h('textarea', { ...common, rows, placeholder: 'One per line', onchange: read }, (item.value ?? []).join('\n'));
    }
    case 'secret':
      return text({ type: 'password', autocomplete: 'new-password', placeholder: item.set ? 'is set; type to replace it' : 'not set' }, (value) => value || null);
    default:
      return text({ value: item.value ?? '', placeholder: item.default ?? '', spellcheck: 'false' }, (value) => value || null);
  }
}
