import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../../src/base/clock.js';
import { systemClock } from '../../../src/base/system-clock.js';
import { createTaskId } from '../../../src/base/ids.js';
import { adoptState } from '../../../src/store/machine.js';
import { identityOf, ownIdentity } from '../../../src/store/process-identity.js';
import { ProjectLocks, type CorruptLock, type Lock } from '../../../src/store/project-lock.js';
import { LockRacers } from '../../store/lock-racers.js';
import { deadProcess, writeLease } from '../../store/write-lease.js';
import { rounds } from '../../harness/rounds.js';
import { tempFolder } from '../../harness/temp-folder.js';

const RACERS = 3;
const ROUNDS = rounds(15);
const COUNTS = rounds(200);
/** Each look at another process starts `ps`. */
const COUNTS_BY_PS = 20;
const project = '/home/me/project';

let state: string;
let folder: string;
let corrupt: CorruptLock[];
let locks: ProjectLocks;
beforeEach(async () => {
  state = await tempFolder();
  folder = join(state, 'locks');
  corrupt = [];
  locks = new ProjectLocks(folder, systemClock, (found) => corrupt.push(found));
  await mkdir(folder);
});

async function acquire(taskId = createTaskId(Date.now()), projectPath = project): Promise<Lock | string> {
  const answer = await locks.acquire({ projectPath, taskId });
  return 'held' in answer ? answer.held : answer.busy.task_id;
}

async function mustAcquire(taskId?: string): Promise<Lock> {
  const lock = await acquire(taskId);
  if (typeof lock === 'string') throw new Error(`held by ${lock}`);
  return lock;
}

/** The names of all leases. */
function leases(): Promise<string[]> {
  return readdir(folder);
}

describe('ProjectLocks', () => {
  test('the second task is told who holds the project, until the first releases it', async () => {
    const first = await mustAcquire('task_first');
    expect(await acquire('task_second')).toBe('task_first');
    expect((await locks.table()).held).toEqual([first.holder]);
    expect(first.holder).toMatchObject({
      project_path: project,
      task_id: 'task_first',
      owner: await ownIdentity(),
    });
    first.release();
    expect(await leases()).toEqual([]);
    await mustAcquire('task_second');
  });

  test('a dead owner holds nothing', async () => {
    await writeLease(folder, { projectPath: project, taskId: 'task_dead', owner: deadProcess });
    expect(await locks.table()).toMatchObject({ held: [], dead: [{ task_id: 'task_dead' }] });
    const heir = await mustAcquire('task_heir');
    expect(await locks.table()).toEqual({ held: [heir.holder], dead: [] });
    expect(await leases()).toHaveLength(1);
  });

  test('an owner of whom nothing is known keeps its lock', async () => {
    const owner = { pid: process.pid, start_time: null, boot_id: null };
    await writeLease(folder, { projectPath: project, taskId: 'task_unknown', owner });
    expect(await acquire()).toBe('task_unknown');
  });

  test('an owner on another machine keeps its lock, though nothing runs under its pid here', async () => {
    const owner = { ...(await ownIdentity()), pid: 2 ** 22 - 1, boot_id: 'there', machine_id: 'another' };
    await writeLease(folder, { projectPath: project, taskId: 'task_there', owner });
    expect(await acquire()).toBe('task_there');
    expect((await locks.table()).dead).toEqual([]);
  });

  test('an owner on another Mac is dead once this one has adopted the state directory', async () => {
    const own = await ownIdentity();
    const there = { ...own, boot_id: 'there', machine_id: 'another', namespace: null };
    await writeLease(folder, {
      projectPath: project,
      taskId: 'task_there',
      owner: { ...there, start_time: '1' },
    });
    await adoptState(state, null);
    const { platform } = process;
    onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
    expect((await locks.table()).dead).toEqual([]);
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    expect((await locks.table()).dead).toMatchObject([{ task_id: 'task_there' }]);
  });

  test.runIf(process.platform === 'linux')(
    'an owner in another pid namespace of this machine that does not listen any more is dead',
    async () => {
      const owner = { ...(await ownIdentity()), pid: 2 ** 22 - 1, namespace: 'pid:[1]' };
      await writeLease(folder, { projectPath: project, taskId: 'task_there', owner });
      expect((await locks.table()).dead).toMatchObject([{ task_id: 'task_there' }]);
    },
  );

  test('a corrupt lock is set aside under its name and told', async () => {
    const path = await writeLease(folder, { projectPath: project, taskId: 'task_dead', owner: deadProcess });
    await writeFile(path, '{"version":1,"proj');
    await mustAcquire('task_heir');
    expect(corrupt).toMatchObject([{ path, setAsideAs: `${path}.corrupt` }]);
    expect(corrupt[0]?.why).toContain('not JSON');
    expect(await readFile(`${path}.corrupt`, 'utf8')).toBe('{"version":1,"proj');
    expect(await leases()).toHaveLength(2);
  });
});

describe('a project that lies in another', () => {
  test.each([
    ['a folder of a busy project', '/p/app', '/p/app/packages/one'],
    ['the parent of a busy project', '/p/app/packages/one', '/p/app'],
    ['the root of everything', '/p/app', '/'],
  ])('%s is busy by the same task', async (_which, busy, wanted) => {
    await acquire('task_first', busy);
    expect(await acquire('task_second', wanted)).toBe('task_first');
  });

  test.each([
    ['a sibling whose name begins alike', '/p/app', '/p/app-two'],
    ['a worktree of a task', '/p/app', '/p/app/.claude/worktrees/task_0123456789abcdef0123'],
    ['the project of a worktree', '/p/app/.claude/worktrees/task_0123456789abcdef0123/sub', '/p/app'],
  ])('%s is free', async (_which, busy, wanted) => {
    await acquire('task_first', busy);
    expect(typeof (await acquire('task_second', wanted))).toBe('object');
  });
});

test("a lease that was handed over is its new owner's, whatever the old one does, and free once that is gone", async () => {
  const request = { projectPath: project, taskId: 'task_mine' };
  const lock = await locks.exclusively((table) => table.reserve(request));
  expect(lock.holder).toMatchObject({ owner: await ownIdentity(), reserved: true });
  const child = spawn('sleep', ['60']);
  const owner = await identityOf(child.pid ?? 0);
  if (owner === undefined) throw new Error('it does not run');
  await lock.handTo(owner);
  lock.release();
  expect(await acquire('task_other')).toBe('task_mine');
  expect((await locks.table()).held).toMatchObject([{ task_id: 'task_mine', owner }]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await locks.table()).toMatchObject({ held: [], dead: [{ task_id: 'task_mine' }] });
});

test('a process that stays in a critical section is named at the time limit', async () => {
  await locks.exclusively(async () => {
    let nowMs = 0;
    const clock: Clock = {
      ...systemClock,
      monotonicMs: () => (nowMs += 5_000),
      after: (_delayMs, done) => systemClock.after(0, done),
    };
    const other = new ProjectLocks(folder, clock, () => undefined);
    await expect(other.exclusively(async () => undefined)).rejects.toThrow(
      `(${process.pid}) has held the lock over all projects`,
    );
  });
});

test.each([
  ['that pause between any two steps', { isSlow: true }, COUNTS],
  ['of which the system reports the start as a date', { table: 'ps' }, COUNTS_BY_PS],
] as const)('processes %s are in a critical section one after the other', async (_which, how, counts) => {
  const racers = await LockRacers.start(RACERS, folder, how);
  onTestFinished(() => racers.stop());
  const file = join(state, 'count');
  await writeFile(file, '0');
  await racers.count(file, counts);
  expect(Number(await readFile(file, 'utf8'))).toBe(RACERS * counts);
});

describe('processes that race for one project', () => {
  let racers: LockRacers;
  beforeEach(async () => {
    racers = await LockRacers.start(RACERS, folder);
  });
  afterEach(() => racers.stop());

  test.each([
    ['a free project', false],
    ['the lock of a dead owner', true],
  ])(
    `${ROUNDS} times from %s: one owner of a folder and its parent, and nothing left over`,
    async (_from, fromDead) => {
      const owners: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const parent = `/p/${round}`;
        if (fromDead)
          await writeLease(folder, { projectPath: parent, taskId: 'task_dead', owner: deadProcess });
        const won = await racers.race([parent, `${parent}/child`]);
        owners.push(won.length);
        expect((await locks.table()).held.map(({ task_id }) => task_id)).toEqual(won);
        await racers.release();
      }
      expect(owners).toEqual(owners.map(() => 1));
      expect((await leases()).filter((name) => !/^[0-9a-f]{64}$/.test(name))).toEqual([]);
    },
  );

  test('racers killed in the middle leave a project that the next one gets', async () => {
    await writeLease(folder, { projectPath: project, taskId: 'task_dead', owner: deadProcess });
    const exits = racers.processes.map((racer) => once(racer, 'exit'));
    const tries = Array.from({ length: 20 }, () => ({ project, task: createTaskId(Date.now()) }));
    for (const [index, racer] of racers.processes.entries()) {
      racer.send({ do: 'acquire', tries });
      if (index > 0) setImmediate(() => racer.kill('SIGKILL'));
    }
    await once(racers.processes[0] ?? process, 'message');
    racers.processes[0]?.kill('SIGKILL');
    await Promise.all(exits);
    (await mustAcquire()).release();
  });
});
