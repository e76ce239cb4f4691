// The official MCP client talks to our server; what it accepts, other clients accept too.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const exe = process.env.CLAUDE_MEM_TEST_EXE;
const home = mkdtempSync(join(tmpdir(), 'claude-mem-mcp-'));
const clients = [];

/** A client with a server of its own, on the memory that all of them share. */
async function connect() {
  const env = { PATH: process.env.PATH, HOME: home, CLAUDE_PROJECT_DIR: home, CLAUDE_MEM_WORKER: 'manual' };
  const client = new Client({ name: 'conformance', version: '1' });
  await client.connect(new StdioClientTransport({ command: exe, args: ['mcp'], env }));
  clients.push(client);
  return client;
}

const call = (client, name, args) => client.callTool({ name, arguments: args });
const text = (result) => result.content.map((part) => part.text).join('\n');

let client;
before(async () => {
  assert.ok(exe, 'CLAUDE_MEM_TEST_EXE names the executable');
  client = await connect();
  await call(client, 'save_memory', { text: 'Money is counted in cents, never in floats', title: 'Money in cents' });
});
after(async () => {
  await Promise.all(clients.map((each) => each.close()));
  rmSync(home, { recursive: true, force: true });
});

test('the workflow stands in the instructions and seven tools are listed', async () => {
  assert.match(client.getInstructions(), /search/);
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  assert.deepEqual(names, ['__IMPORTANT', 'search', 'timeline', 'get_observations', 'save_memory', 'forget', 'open_items']);
  for (const tool of tools) assert.equal(tool.inputSchema.type, 'object');
});

test('every tool answers what it is for', async () => {
  assert.match(text(await call(client, '__IMPORTANT', {})), /search/);
  assert.match(text(await call(client, 'search', { query: 'money floats' })), /#1 .*Money in cents/);
  assert.match(text(await call(client, 'timeline', { anchor: '#1' })), /Money in cents/);
  assert.match(text(await call(client, 'get_observations', { ids: ['#1'] })), /never in floats/);
  const saved = text(await call(client, 'save_memory', { text: 'A slip of the pen' }));
  const id = saved.match(/#\d+/)[0];
  assert.match(text(await call(client, 'forget', { id })), new RegExp(id));
  assert.doesNotMatch(text(await call(client, 'search', { query: 'slip of the pen' })), /A slip of the pen/);
});

test('wrong arguments get a text that helps, not the end of the conversation', async () => {
  for (const [name, args] of [
    ['search', { query: 5, limit: 'x' }],
    ['search', { query: 'money', limit: -3 }],
    ['timeline', {}],
    ['get_observations', {}],
    ['get_observations', { ids: [] }],
    ['save_memory', {}],
    ['save_memory', { text: '   ' }],
    ['forget', { id: '#99' }],
  ]) {
    const result = await call(client, name, args);
    assert.ok(result.isError, `${name} ${JSON.stringify(args)}: ${text(result)}`);
    assert.ok(text(result).length > 10);
  }
  await assert.rejects(call(client, 'nope', {}), { code: -32602 });
});

test('an argument of a megabyte is no more than a long one', async () => {
  const found = await call(client, 'search', { query: 'x'.repeat(1 << 20) });
  assert.ok(text(found).length < 20_000);
  const many = await call(client, 'search', { query: 'money '.repeat(200_000) });
  assert.match(text(many), /Money in cents/);
});

test('fifty calls at once are all answered', async () => {
  const calls = Array.from({ length: 50 }, (_, n) => call(client, 'search', { query: `money ${n}` }));
  for (const result of await Promise.all(calls)) assert.match(text(result), /Money in cents/);
});

test('a cancelled call leaves the next one alone', async () => {
  const changed = new AbortController();
  const cancelled = client.callTool({ name: 'search', arguments: { query: 'money' } }, undefined, { signal: changed.signal });
  changed.abort('changed my mind');
  await assert.rejects(cancelled);
  assert.match(text(await call(client, 'search', { query: 'money' })), /Money in cents/);
  await client.ping();
});

test('several servers share one memory', async () => {
  const other = await connect();
  await call(other, 'save_memory', { text: 'Deploys happen on Tuesdays' });
  assert.match(text(await call(client, 'search', { query: 'deploys Tuesdays' })), /Deploys happen on Tuesdays/);
});
