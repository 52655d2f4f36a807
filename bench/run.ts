// `npm run bench`: every figure of docs/performance.md in one run on this machine. `npm run bench -- start flood` runs some.
import { measureAsk } from './ask.js';
import { measureBoard } from './board.js';
import { measureDelegate } from './delegate.js';
import { measureExplore } from './explore.js';
import { measureFlood } from './flood.js';
import { measureMachines } from './machines.js';
import { measureStart } from './start.js';

const suites: Readonly<Record<string, () => Promise<unknown>>> = {
  start: measureStart,
  explore: measureExplore,
  delegate: measureDelegate,
  ask: measureAsk,
  flood: () => measureFlood(1, 200),
  many: () => measureFlood(20, 5),
  board: measureBoard,
  machines: measureMachines,
};

const wanted = process.argv.slice(2);
const results: Record<string, unknown> = {};
for (const [name, measure] of Object.entries(suites)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  process.stderr.write(`${name} …\n`);
  results[name] = await measure();
}
const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;
process.stdout.write(`${JSON.stringify(results, rounded, 2)}\n`);
