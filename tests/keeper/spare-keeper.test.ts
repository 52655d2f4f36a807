import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nextEvent } from '../../src/base/event.js';
import { NO_TASK_YET, SpareKeeper } from '../../src/keeper/spare-keeper.js';
import { spawnKeeper } from '../../src/keeper/spawn-keeper.js';
import { isHalted } from '../../src/os/is-halted.js';

import { createTaskId } from '../../src/base/ids.js';
import { isFinal } from '../../src/tasks/task.js';
import { ManualClock } from '../harness/manual-clock.js';
import { realPid } from '../harness/real-pid.js';
import { bundleKeeper, openHost } from './open-host.js';

const keeper = bundleKeeper();

const FIVE_MINUTES_MS = 5 * 60_000;
const SOON_MS = 20;

describe('a spare keeper', () => {
  it('keeps the next task, and another one waits then', async () => {
    const { host, prepare, workplace, stateDir } = await openHost({
      kind: 'spare keeper',
      keeperEntry: keeper(),
    });
    const [waiting] = await workplace.spareKeepers();
    const record = await host.launch(await prepare('AGENT: never-exits'));
    expect(record.keeper?.pid).toBe(waiting);
    const command = await readFile(`/proc/${waiting}/cmdline`, 'latin1');
    expect(command).toContain(` ${record.task_id} ${stateDir} `);
    expect(await readFile(join(stateDir, 'tasks', record.task_id, 'keeper.log'), 'utf8')).toBe('');
    await expect.poll(() => workplace.spareKeepers()).toHaveLength(1);
    expect(await workplace.spareKeepers()).not.toContain(waiting);
    const link = await host.connect(record);
    await link?.kill('Enough.');
    link?.dispose();
  });

  it('tells in the log of its task what it would print', async () => {
    const { host, prepare, stateDir } = await openHost({ kind: 'spare keeper', keeperEntry: keeper() });
    const record = await host.launch(await prepare('AGENT: never-exits'));
    process.kill(record.keeper?.pid ?? 0, 'SIGUSR1');
    // Node tells on stderr that its debugger listens.
    await expect
      .poll(() => readFile(join(stateDir, 'tasks', record.task_id, 'keeper.log'), 'utf8'))
      .toContain('Debugger listening');
    const link = await host.connect(record);
    const ended = link && nextEvent(link.onDidChange, ({ status }) => isFinal(status));
    await link?.kill('Enough.');
    expect(await ended).toMatchObject({ status: 'killed' });
    link?.dispose();
  });

  it('that has died costs nothing: a new keeper is started', async () => {
    const { host, prepare, workplace } = await openHost({ kind: 'spare keeper', keeperEntry: keeper() });
    const [waiting] = await workplace.spareKeepers();
    process.kill(waiting ?? 0, 'SIGKILL');
    const record = await host.launch(await prepare('AGENT: exit'));
    expect(record.keeper?.pid).not.toBe(waiting);
  });

  it.runIf(process.platform === 'linux')(
    'that was halted is ended, and a new keeper is started',
    async () => {
      const { host, prepare, workplace } = await openHost({ kind: 'spare keeper', keeperEntry: keeper() });
      const waiting = realPid((await workplace.spareKeepers())[0]);
      process.kill(waiting, 'SIGSTOP');
      await expect.poll(() => isHalted(waiting)).toBe(true);
      const record = await host.launch(await prepare('AGENT: exit'));
      expect(record.keeper?.pid).not.toBe(waiting);
      await expect.poll(() => workplace.spareKeepers()).not.toContain(waiting);
    },
  );

  it('ends with the process that started it, without a task', async () => {
    const { workplace, stateDir } = await openHost({ keeperEntry: keeper() });
    const spare = spawnKeeper(
      {
        keeperEntry: keeper(),
        nodeArguments: [],
        statePath: stateDir,
        runtimePath: workplace.root,
        env: workplace.env,
      },
      NO_TASK_YET,
    );
    await expect.poll(() => workplace.spareKeepers()).toEqual([spare.pid]);
    spare.stdin?.destroy();
    await expect.poll(() => workplace.spareKeepers()).toEqual([]);
  });

  it('waits once, five minutes from the last task on', async () => {
    const { workplace, stateDir } = await openHost({ keeperEntry: keeper() });
    const clock = new ManualClock();
    const spare = new SpareKeeper(
      {
        keeperEntry: keeper(),
        nodeArguments: [],
        statePath: stateDir,
        runtimePath: workplace.root,
        env: workplace.env,
      },
      clock,
    );
    expect(await spare.take({ task_id: createTaskId() })).toBeUndefined();
    spare.prepare();
    clock.advance(SOON_MS);
    const { pid } = spare;
    expect(pid).toBeGreaterThan(0);
    clock.advance(FIVE_MINUTES_MS - 1);
    spare.prepare();
    clock.advance(SOON_MS);
    expect(spare.pid).toBe(pid);
    clock.advance(FIVE_MINUTES_MS - 1);
    expect(spare.pid).toBe(pid);
    clock.advance(1);
    expect(spare.pid).toBeUndefined();
    await expect.poll(() => workplace.spareKeepers()).toEqual([]);
    spare.dispose();
    spare.prepare();
    clock.advance(SOON_MS);
    expect(spare.pid).toBeUndefined();
  });

  it('has a place for the id of any task in its arguments', () => {
    expect(NO_TASK_YET).toHaveLength(createTaskId().length);
  });
});
