// Tries a prompt, a file or an error: shows exactly the text that the hook injects.

import { post } from './api.js';
import { failure, fill, h, loading, state } from './dom.js';
import { hrefOf, mark, marked, plural, titleOf, typeOf } from './format.js';

const NEEDS = [['prompt', 'A prompt', 'Why does the login loop?'], ['file', 'A file', 'src/login.rs'], ['failure', 'An error', 'The output of a command that failed']];

export function recallTry(project) {
  let need = 'prompt';
  const out = h('div', {});
  const input = h('textarea', { rows: '2', name: 'query', placeholder: NEEDS[0][2], 'aria-label': 'Text to try' });
  const choose = (value) => {
    need = value;
    input.placeholder = NEEDS.find(([name]) => name === value)[2];
    fill(out);
  };
  const radio = ([value, name]) => h('label', { class: 'check' }, h('input', { type: 'radio', name: 'need', value, checked: value === need, onchange: () => choose(value) }), name);
  const submit = async (event) => {
    event.preventDefault();
    const query = input.value.trim();
    if (!query) return;
    out.setAttribute('aria-live', 'polite');
    fill(out, loading());
    try {
      fill(out, shown(await post('/api/context/semantic', { query, need, project: project.id })));
    } catch (error) {
      fill(out, failure(error, () => submit(event)));
    }
  };
  return [
    h('h2', { id: 'try' }, 'Try a prompt, a file or an error'),
    h(
      'form',
      { class: 'controls try', onsubmit: submit },
      h('fieldset', { class: 'checks' }, h('legend', { class: 'sr' }, 'What to try'), NEEDS.map(radio)),
      input,
      h('div', { class: 'actions' }, h('button', { type: 'submit', class: 'primary' }, 'Try')),
    ),
    out,
  ];
}

function shown({ context, items, reasons }) {
  if (!context) return state('The hook injects nothing', 'No memory is close enough, recall is switched off in the settings, or the file is missing or smaller than 512 bytes.');
  const line = (row, at) => h('li', {}, h('a', { class: 'with-mark plain', href: hrefOf(row.handle) }, mark(typeOf(row)), h('span', {}, row.who && h('bdi', { class: 'who' }, `${row.who}: `), marked(titleOf(row)), ' ', h('span', { class: 'mono soft' }, row.handle), reasons[at] && h('span', { class: 'soft' }, ` because of ${reasons[at]}`))));
  return [
    h('p', { class: 'note' }, `The hook injects ${plural(items.length, 'memory', 'memories')}:`),
    h('ul', { class: 'near' }, items.map(line)),
    h('pre', { class: 'context', tabindex: '0', role: 'region', 'aria-label': 'The injected text' }, context),
  ];
}
