import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeJsonFileAtomically } from '../../../src/base/files/json-file.js';
import { openStateDir } from '../../../src/store/state-dir.js';
import { keepSpending, spentByOthers } from '../../../src/tasks/budget/day-spending.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { sampleRecord } from '../sample-task.js';
import { tempFolder } from '../../harness/temp-folder.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const id = (digit: number): string => `task_${String(digit).repeat(20)}`;

it('what a removed task of today has used counts until the day is over, and once', async () => {
  const folder = await tempFolder();
  const stateDir = await openStateDir({ path: join(folder, 'state') });
  const clock = new ManualClock();
  const made = (digit: number, usd: number) =>
    sampleRecord({
      task_id: id(digit),
      created_at: new Date(clock.now()).toISOString(),
      cost_usd: usd,
      tokens: 10,
    });
  for (const [digit, usd] of [
    [1, 0.25],
    [2, 0.5],
  ] as const) {
    await stateDir.createTaskDir(id(digit));
    await writeJsonFileAtomically(stateDir.recordFile(id(digit)), made(digit, usd));
    await keepSpending(stateDir, made(digit, usd), clock.now());
  }
  const others = () => spentByOthers(stateDir, id(9), clock)();
  expect(await others()).toEqual({ costUsd: 0.75, tokens: 20 });
  await stateDir.removeTaskDir(id(1));
  expect(await others()).toEqual({ costUsd: 0.75, tokens: 20 });
  clock.advance(DAY_MS);
  expect(await others()).toEqual({ costUsd: 0, tokens: 0 });
  await keepSpending(stateDir, made(3, 1), clock.now());
  expect(await readdir(join(stateDir.path, 'spent'))).toHaveLength(1);
  expect(await others()).toEqual({ costUsd: 1, tokens: 10 });
});
