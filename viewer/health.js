// The findings of `claude-mem status` and `doctor`, each with its fix, and the checklist of a first run.

import { get, post } from './api.js';
import { coded, fill, h, trouble } from './dom.js';
import { count, plural } from './format.js';
import { TEXTS } from './texts.js';
import { toast } from './toasts.js';

/** A command that can be copied. */
export function command(text) {
  const copy = () => navigator.clipboard.writeText(text).then(() => toast('Copied.'), () => toast('The browser does not allow copying.'));
  return h('span', { class: 'command' }, h('code', {}, text), h('button', { type: 'button', class: 'small', 'aria-label': `Copy ${text}`, onclick: copy }, 'Copy'));
}

/** Findings that the viewer itself can fix. */
const FIXES = { 'claude-mem resume': ['Resume', '/api/resume', {}], 'claude-mem worker restart': ['Restart', '/api/worker/restart', { confirm: true }] };

function fixOf(fix, refresh) {
  const [name, path, body] = FIXES[fix] ?? [];
  const run = async () => {
    try {
      await post(path, body);
      refresh();
    } catch (error) {
      toast(trouble(error));
    }
  };
  if (name) return h('button', { type: 'button', class: 'small', onclick: run }, name);
  return fix.startsWith('claude-mem ') ? command(fix) : h('code', {}, fix);
}

export function healthOf({ health, vectors, counts }, world, refresh) {
  const backlog = vectors.backlog > 0 && h('li', {}, h('span', {}, `Search by meaning covers ${count(Math.max(vectors.rows - vectors.backlog, 0))} of ${plural(vectors.rows, 'text')}; indexing goes on.`));
  const line = ({ problem, fix }) => h('li', {}, h('span', {}, coded(problem.charAt(0).toUpperCase() + problem.slice(1))), fix && fixOf(fix, refresh));
  const problems = health.filter(({ level }) => level === 'problem');
  const notes = health.filter(({ level }) => level === 'note');
  return [
    !problems.length && !backlog && h('p', { class: 'note ok' }, TEXTS.healthy),
    problems.length > 0 && h('ul', { class: 'problems' }, problems.map(line)),
    (notes.length > 0 || (!problems.length && backlog)) && h('ul', { class: 'problems info' }, !problems.length && backlog, notes.map(line)),
    counts.sessions === 0 && h('p', { class: 'note' }, h('a', { href: '#/feed' }, 'First steps')),
  ];
}

/** Names the agents that were used on this machine. */
function presentOf(agents) {
  const present = agents.filter((agent) => agent.isPresent).map((agent) => agent.title);
  return present.length > 0 && h('p', { class: 'soft' }, `Found on this machine: ${present.join(', ')}.`);
}

function importTitle(found, left) {
  if (!found.length) return 'No earlier sessions to import';
  return left.length ? 'Import earlier sessions' : `Earlier sessions are imported: ${found.map((agent) => agent.title).join(', ')}`;
}

/** The steps to the first memory. */
export function firstRun() {
  const box = h('div', { class: 'first-run' });
  const step = (isDone, title, ...more) => h('li', { class: isDone ? 'done' : null }, h('span', { class: 'step', 'aria-hidden': 'true' }, isDone ? '✓' : '○'), h('div', {}, h('p', { class: 'step-title' }, title, h('span', { class: 'sr' }, isDone ? ' (done)' : ' (to do)')), more));
  const load = async () => {
    const { health, counts, agents } = await get('/api/stats');
    const hooks = health.find(({ fix }) => fix === 'claude-mem install');
    const found = agents.filter((agent) => agent.transcripts > 0);
    const left = found.filter((agent) => !agent.isImported);
    fill(box, h(
      'ol',
      { class: 'steps' },
      step(true, 'The worker is running'),
      step(!hooks, hooks ? 'Connect your coding agents' : 'Hooks are connected', hooks && [presentOf(agents), command('claude-mem install')]),
      step(!left.length, importTitle(found, left), left.map((agent) => [h('p', { class: 'soft' }, `${agent.title}: ${plural(agent.transcripts - agent.read, 'transcript')} found. Importing them is optional.`), command(`claude-mem import transcripts --agent ${agent.name}`)])),
      step(counts.prompts > 0, 'Start a session', h('p', { class: 'soft' }, 'Work with a connected agent in a project: new memories appear here by themselves.')),
    ));
  };
  load().catch((error) => fill(box, h('p', {}, trouble(error))));
  return [h('p', { class: 'state-title' }, 'No memories yet'), h('p', { class: 'soft' }, 'Four steps to the first one. You can also add a memory by hand.'), box];
}
