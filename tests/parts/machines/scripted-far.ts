import type { Clock } from '../../../src/base/clock.js';
import type { Machines } from '../../../src/machines/machine.js';
import { openMachines } from '../../../src/machines/machines.js';

const IDENTITY = {
  protocol: 1,
  machine_id: null,
  state_id: 'f00d',
  version: '0.1.0',
  home: '/home/ann',
  hostname: 'gpu',
  now: '2026-01-01T00:00:00.000Z',
};

/** What a far side of another program is: it answers `initialize` and pings as a bridge does, and the rest is up to `script`. */
const PROGRAM = `
const identity = IDENTITY;
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let silent = false;
const usual = ({ id, method }) => {
  if (method === 'initialize') say({ id, result: { capabilities: { extensions: { 'claude-code-bridge/link': identity } } } });
  if (method === 'link/ping' && !silent) say({ id, result: { now: new Date().toISOString() } });
};
const take = (message) => { SCRIPT };
let text = '';
process.stdin.on('data', (chunk) => {
  const lines = (text += chunk).split('\\n');
  text = lines.pop();
  for (const line of lines) take(JSON.parse(line));
}).on('end', () => process.exit(0));
`;

/**
 * A machine named `gpu` with a far side that runs `script` for each message (\`message\`, \`usual\`, \`say\`, \`identity\`), and one named
 * `off` that cannot be reached. `env`: what the processes of the lines have.
 */
export function scriptedFar(
  script: string,
  clock?: Clock,
  env: Readonly<Record<string, string>> = {},
): Machines {
  const program = PROGRAM.replace('IDENTITY', JSON.stringify(IDENTITY)).replace('SCRIPT', () => script);
  const machines = {
    gpu: { command: ['env'], bridge: [process.execPath, '-e', program] },
    off: { command: ['sh', '-c', 'echo "No route to host" >&2; exit 255'] },
  };
  return openMachines({
    config: { machines },
    env: { PATH: process.env['PATH'], ...env },
    homeDir: '/',
    ...(clock && { clock }),
  });
}
