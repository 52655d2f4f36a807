// `npm run bench`: every figure of docs/performance.md in one run on this machine. `npm run bench -- start flood` runs some.
import { cpus, totalmem } from 'node:os';
import { measureAsk } from './ask.js';
import { measureAttach } from './attach.js';
import { measureBoard } from './board.js';
import { measureDelegate } from './delegate.js';
import { measureExplore } from './explore.js';
import { measureFloodTask } from './flood-task.js';
import { measureLeave } from './leave.js';
import { measureManyOutput } from './many-output.js';
import { measureManyTasks } from './many-tasks.js';
import { runPtyFlood } from './pty-flood.js';
import { measureNative } from './native.js';
import { measureProcess } from './process.js';
import { measureRecovery } from './recovery.js';
import { measureStart } from './start.js';

const FLOOD_MB = 200;
const FLOOD_ROUNDS = 7;

const suites: Readonly<Record<string, () => Promise<unknown>>> = {
  start: measureStart,
  recovery: measureRecovery,
  leave: measureLeave,
  delegate: measureDelegate,
  ask: measureAsk,
  attach: measureAttach,
  board: measureBoard,
  pty: () => runPtyFlood({ megabytes: FLOOD_MB, rounds: FLOOD_ROUNDS }),
  flood: () => measureFloodTask(FLOOD_MB),
  many: measureManyTasks,
  'many-output': () => measureManyOutput(),
  'many-output-claude': () => measureManyOutput('claude'),
  explore: measureExplore,
  native: measureNative,
  process: measureProcess,
};

const wanted = process.argv.slice(2);
const results: Record<string, unknown> = {
  machine: {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
  },
};
for (const [name, measure] of Object.entries(suites)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  results[name] = await measure();
}
process.stdout.write(
  `${JSON.stringify(results, (_, value: unknown) => (typeof value === 'number' ? Math.round(value * 1000) / 1000 : value), 2)}\n`,
);
