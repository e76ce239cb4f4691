#!/usr/bin/env node
// Runs the executable from the package of this platform, which npm installed beside this one.
'use strict';

const { spawnSync } = require('node:child_process');

const platform = `PACKAGE_NAME-${process.platform}-${process.arch}`;
let executable;
try {
  executable = require.resolve(`${platform}/bin/COMMAND`);
} catch {
  console.error(`COMMAND: there is no package ${platform}; it was not installed, or this platform is not supported`);
  process.exit(1);
}
const ended = spawnSync(executable, process.argv.slice(2), { stdio: 'inherit' });
if (ended.error) {
  console.error(`COMMAND: cannot start ${executable}: ${ended.error.message}`);
  process.exit(1);
}
if (ended.signal) process.kill(process.pid, ended.signal);
process.exit(ended.status ?? 1);
