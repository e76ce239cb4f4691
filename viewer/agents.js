// The coding agents whose sessions are stored, and the filter by one of them.

import { get } from './api.js';
import { fill, h } from './dom.js';

/** A select of the agents, alone and with a label. Hidden while there is only one to choose. */
export function agentFilter(value, onchange, any = 'Any') {
  const select = h('select', { name: 'agent', 'aria-label': 'Agent', onchange, hidden: true });
  const label = h('label', { class: 'filter', hidden: true }, h('span', {}, 'Agent'), select);
  const show = (items) => {
    fill(select, h('option', { value: '' }, any), items.map((one) => h('option', { value: one.name }, one.title)));
    select.value = value();
    label.hidden = items.length < 2 && !value();
    select.hidden = label.hidden;
  };
  const load = async () => show((await get('/api/agents')).items);
  load().catch(() => { /* The list beside it reports the error. */ });
  return { label, select, show: () => (select.value = value()) };
}
