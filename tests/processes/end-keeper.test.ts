import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { endKeeper } from '../../src/processes/end-keeper.js';
import { identityOf } from '../../src/store/process-identity.js';
import type { ProcessIdentity } from '../../src/store/process-place.js';
import { ManualClock } from '../harness/manual-clock.js';

interface Keeper {
  readonly child: ChildProcess;
  readonly exit: Promise<unknown[]>;
  readonly owner: ProcessIdentity;
}

async function keeper(script: string): Promise<Keeper> {
  const child = spawn('/bin/sh', ['-c', `${script}; echo ready; exec sleep 60`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  await once(child.stdout, 'data');
  const owner = await identityOf(child.pid ?? 0);
  if (owner === undefined) throw new Error('The keeper is gone.');
  return { child, exit, owner };
}

const recordOf = (owner: ProcessIdentity) => ({ process_id: 'proc_1', owner });
const isThere = ({ child }: Keeper): boolean => child.exitCode === null && child.signalCode === null;

it('a keeper that was halted goes on, and is told to end', async () => {
  const { child, exit, owner } = await keeper(':');
  child.kill('SIGSTOP');
  await endKeeper(recordOf(owner), systemClock);
  expect(await exit).toEqual([null, 'SIGTERM']);
});

it('a keeper that does not end its process is killed', async () => {
  const { exit, owner } = await keeper("trap '' TERM");
  const clock = new ManualClock();
  const ending = endKeeper(recordOf(owner), clock);
  const ticking = setInterval(() => clock.advance(50), 5);
  onTestFinished(() => clearInterval(ticking));
  await ending;
  expect(await exit).toEqual([null, 'SIGKILL']);
});

it('a process that has only the number of the keeper is left alone', async () => {
  const one = await keeper(':');
  await endKeeper(recordOf({ ...one.owner, start_time: '1' }), systemClock);
  expect(isThere(one)).toBe(true);
});

it('a process of which it is not known whether it is the keeper is left alone, and that is told', async () => {
  const one = await keeper(':');
  const message: unknown = expect.stringMatching(
    /the system does not report whether process \d+ is its keeper/,
  );
  await expect(endKeeper(recordOf({ ...one.owner, start_time: null }), systemClock)).rejects.toMatchObject({
    code: 'PROCESS_UNREACHABLE',
    message,
  });
  expect(isThere(one)).toBe(true);
});
