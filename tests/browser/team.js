// A team as `/api/team` describes it. The contract tests of the worker hold the names of its fields.

const space = { own: false, mode: 'auto', sent: 0, received: 0, unsent: 0, held: 0, refused: 0, aside: 0, heldBack: 0, walking: false };

export const TEAM = {
  joined: true, name: 'Port authority', handle: 'jonas', isAdmin: false, inStep: true, error: '', revoked: false, lastOk: Date.now() - 120_000, lastChange: Date.now() - 600_000,
  members: [
    { handle: 'jonas', name: 'Jonas Berg', role: 'member', trust: 'own', gone: false },
    { handle: 'mira', name: 'Mira Sato', role: 'admin', trust: 'trusted', gone: false },
    { handle: 'olav', name: 'Olav Lund', role: 'member', trust: 'member', gone: true },
  ],
  spaces: [{ ...space, project: 'harbour', sent: 214, received: 1_032 }, { ...space, project: 'lighthouse', mode: 'review', sent: 4, held: 1 }],
  review: [{ id: '#1', title: 'Ferries moor at the east quay' }],
};

/** Makes the page's machine a member of a team. */
export const joined = (page, more = {}) => page.route('**/api/team', (route) => route.fulfill({ json: { ...TEAM, ...more } }));
