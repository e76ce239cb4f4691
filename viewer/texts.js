// The words of the viewer that more than one view uses. One word per thing: memory, account (of a
// session), summary (of a turn), session, reply.

const NAMES = { decision: 'Decision', bugfix: 'Bug fix', feature: 'Feature', refactor: 'Refactoring', discovery: 'Discovery', change: 'Change', summary: 'Summary', prompt: 'Prompt', message: 'Agent reply', account: 'Account' };
const PLURALS = { decision: 'Decisions', bugfix: 'Bug fixes', feature: 'Features', refactor: 'Refactorings', discovery: 'Discoveries', change: 'Changes' };

export const TYPES = ['decision', 'bugfix', 'feature', 'refactor', 'discovery', 'change'];
/** Kinds of rows that are not memories, with their plural names. */
export const KINDS = [['summary', 'Summaries'], ['prompt', 'Prompts'], ['message', 'Agent replies'], ['account', 'Accounts']];
/** The name of a type or a kind; a type of the user's own vocabulary is its own name. */
export const nameOf = (type) => NAMES[type] ?? type;
export const pluralName = (type) => PLURALS[type] ?? type;

/** Where the text of a row comes from. */
export const ORIGINS = {
  user: 'You said this', agent: 'From the agent’s work', tool: 'From a tool’s output', web: 'From the web', import: 'Imported', manual: 'Added by hand',
};
/** Which compressor wrote a row. */
export const madeBy = (name) => (name === 'local' ? 'Made locally' : `Written by ${name}`);
/** The moments at which sessions receive memories. */
export const PLACES = { session_start: 'At the start', prompt: 'With a prompt', file: 'With a file', failure: 'After a failure', mcp: 'By a tool call', cli: 'On the command line', viewer: 'In the viewer' };

export const TEXTS = {
  expired: 'Session expired',
  notRunning: 'claude-mem is not running',
  startWorker: 'Run `claude-mem open`: it starts the worker and opens this page again.',
  healthy: 'Hooks connected, worker running, index complete.',
  endOfList: 'End of list',
  restart: 'Restart required',
  everyProject: 'Apply to all projects',
  onlyProject: 'Only this project',
  suggested: 'Suggested preference',
  correct: 'Mark as correct',
};
