// One program in a plain pseudo-terminal, in a process of its own, as a keeper is one: `node plain-pty.mjs <agent> <prompt file>`.
import { spawn } from '@lydell/node-pty';

const [agent, prompt] = process.argv.slice(2);
const pty = spawn('/bin/sh', ['-c', 'exec "$1" < "$2"', 'sh', agent, prompt], {
  name: 'xterm-256color',
  cols: 120,
  rows: 40,
  cwd: process.cwd(),
  env: process.env,
  encoding: null,
});
pty.onData(() => undefined);
pty.onExit(() => process.exit(0));
