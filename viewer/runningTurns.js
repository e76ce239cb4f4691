// Turns that agents are at work on, above the feed: they have no memories yet.

import { get } from './api.js';
import { fill, h, throttle, trouble } from './dom.js';
import { painted } from './firstPaint.js';
import { brief, mark, marked, plural } from './format.js';
import { ago } from './dates.js';

const PROMPT_CHARS = 160;

/** The box, and a function that loads it again. */
export function runningTurns(world) {
  const box = h('div', { class: 'running', role: 'status', 'aria-label': 'Running turns' });
  const isMine = (turn) => {
    const chosen = world.projects.find((one) => String(one.id) === world.project);
    return !chosen || chosen.name === turn.project;
  };
  const refresh = throttle(400, async () => {
    try {
      const { items } = await get('/api/running');
      fill(box, items.filter(isMine).map(line));
    } catch (error) {
      // The bar above says when the worker is gone.
      fill(box, error.status !== 0 && h('p', { class: 'meta' }, `Running turns could not be loaded: ${trouble(error)}`));
    }
  });
  painted().then(refresh);
  return { box, refresh };
}

const line = (turn) => h(
  'div',
  { class: 'running-turn' },
  mark('prompt'),
  h('span', { class: 'running-prompt', dir: 'auto' }, turn.prompt ? marked(brief(turn.prompt, PROMPT_CHARS)) : 'A private prompt'),
  h('span', { class: 'tag working' }, turn.toolCalls ? `Working, ${plural(turn.toolCalls, 'tool call')}` : 'Working'),
  turn.project && h('bdi', { class: 'soft project-name' }, turn.project),
  h('span', { class: 'when' }, ago(turn.startedAt)),
);
