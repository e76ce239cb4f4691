// The team of this machine: its state, the shared memories, the members, and the requests that wait
// for the user's consent. Changes are made by `claude-mem team`, which asks before anything leaves.

import { get } from './api.js';
import { fill, h, state } from './dom.js';
import { ago } from './dates.js';
import { count, hrefOf, marked, plural } from './format.js';
import { command } from './health.js';
import { table } from './table.js';

const MODES = { auto: 'Sends and receives', review: 'Sends after review', receive: 'Only receives', off: 'Off' };
const TRUST = { own: 'You', trusted: 'Trusted', member: 'Member', muted: 'Muted' };
/** The state is looked at again this often: no event tells of a round with the server. */
const LOOK_MS = 10_000;

export async function team(world) {
  const box = h('div', {});
  const title = h('h1', {}, 'Team');
  let drawn = '';
  const load = async () => {
    const found = await get('/api/team');
    if (drawn === JSON.stringify(found)) return;
    drawn = JSON.stringify(found);
    fill(title, found.name || 'Team');
    fill(box, found.joined ? content(found) : state('No team', ['To share memories with others, run this with the link from your team’s administrator: ', command('claude-mem team join LINK')]));
  };
  const again = () => box.isConnected && load().catch(() => { /* The stream says when the worker is gone. */ });
  const timer = setInterval(() => {
    if (!box.isConnected) clearInterval(timer);
    else if (!document.hidden) again();
  }, LOOK_MS);
  await load();
  world.listen(({ name }) => name === 'resumed' && again());
  return [title, box];
}

function content(found) {
  const { spaces, members, review, error, revoked, lastOk } = found;
  const step = revoked ? 'This machine was removed from the team.' : error ? `Not synchronised: ${error}.` : found.inStep ? 'In step with the team.' : 'Not in step yet: the next rounds go on by themselves.';
  const unsent = spaces.reduce((sum, space) => sum + space.unsent, 0);
  const said = [
    found.handle && `You are ${found.handle}${found.isAdmin ? ', an administrator' : ''}.`,
    lastOk != null && `Last exchange ${ago(lastOk)}.`,
    unsent > 0 && `${plural(unsent, 'memory is', 'memories are')} still to be sent.`,
  ];
  return [
    h('p', { class: found.inStep && !error && !revoked ? 'note ok' : 'note' }, h('strong', {}, step), ' ', said.filter(Boolean).join(' ')),
    (error || revoked || !found.inStep) && h('p', {}, command('claude-mem team status')),
    review.length > 0 && reviewOf(review),
    h('h2', {}, 'Shared projects'),
    spaces.length ? spacesOf(spaces) : h('p', { class: 'note' }, 'Nothing is shared yet. In a project: ', command('claude-mem team share')),
    h('h2', {}, 'Members'),
    members.length ? membersOf(members) : h('p', { class: 'note' }, 'The members are known after the first exchange.'),
  ];
}

/** Memories that leave only with the user's word. */
const reviewOf = (rows) => [
  h('div', { class: 'bar-top part-head' }, h('h2', {}, 'Waiting for your approval ', h('span', { class: 'soft' }, count(rows.length))), command('claude-mem team review')),
  h('ul', { class: 'rows sheet' }, rows.map((row) => h('li', { class: 'row' }, h('span', {}, h('a', { class: 'plain', href: hrefOf(row.id), dir: 'auto' }, marked(row.title)), ' ', h('span', { class: 'mono soft' }, row.id))))),
];

function spacesOf(spaces) {
  const figure = (name, key) => ({ name, cell: (space) => count(space[key]), figure: true });
  // A column without any value is left out.
  const rare = [['To send', 'unsent'], ['In review', 'held'], ['Refused', 'refused'], ['Not offered', 'heldBack']].filter(([, key]) => spaces.some((space) => space[key] > 0));
  return table('Shared projects', [
    { name: 'Project', cell: (space) => [h('bdi', {}, space.project || 'All other projects'), space.own && h('span', { class: 'soft' }, ' (your own machines)')] },
    { name: 'Mode', cell: (space) => MODES[space.mode] ?? space.mode },
    figure('Sent', 'sent'),
    figure('Received', 'received'),
    ...rare.map(([name, key]) => figure(name, key)),
  ], spaces);
}

const membersOf = (members) => table('Members', [
  { name: 'Name', cell: (one) => [h('bdi', {}, one.name || one.handle), one.name && one.name !== one.handle && h('span', { class: 'soft' }, ` ${one.handle}`)] },
  { name: 'Role', cell: (one) => one.role.charAt(0).toUpperCase() + one.role.slice(1) },
  { name: 'Trust', cell: (one) => (one.gone ? 'Left' : (TRUST[one.trust] ?? one.trust)) },
], members);

/** Shows the link to the team, if there is one. */
export async function showTeamLink() {
  const { joined } = await get('/api/team');
  document.querySelector('.side a[href="#/team"]').hidden = !joined;
}
