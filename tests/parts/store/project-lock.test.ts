import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Clock } from '../../../src/base/clock.js';
import { systemClock } from '../../../src/base/system-clock.js';
import { createTaskId } from '../../../src/base/ids.js';
import { ownIdentity } from '../../../src/store/process-identity.js';
import type { ProcessIdentity } from '../../../src/store/process-place.js';
import { ProjectLocks, type CorruptLock, type Lock } from '../../../src/store/project-lock.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { LockRacers } from '../../store/lock-racers.js';
import { rounds } from '../../harness/rounds.js';

const RACERS = 3;
const ROUNDS = rounds(15);
const project = '/home/me/project';
const dead: ProcessIdentity = { pid: 1, start_time: 'never', boot_id: 'an earlier boot' };

let folder: string;
let corrupt: CorruptLock[];
let locks: ProjectLocks;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'locks-'));
  corrupt = [];
  locks = new ProjectLocks(folder, systemClock, (found) => corrupt.push(found));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function acquire(
  taskId = createTaskId(),
  owner?: ProcessIdentity,
  projectPath = project,
): Promise<Lock | string> {
  const answer = await locks.acquire({ projectPath, taskId, owner: owner ?? (await ownIdentity()) });
  return 'held' in answer ? answer.held : answer.busy.task_id;
}

async function mustAcquire(taskId?: string, owner?: ProcessIdentity): Promise<Lock> {
  const lock = await acquire(taskId, owner);
  if (typeof lock === 'string') throw new Error(`held by ${lock}`);
  return lock;
}

/** The one file of the lock, without what surrounds it. */
async function lockFile(): Promise<string> {
  const [name = ''] = (await readdir(folder)).filter((entry) => /^[0-9a-f]{64}$/.test(entry));
  return join(folder, name);
}

describe('ProjectLocks', () => {
  test('the second task is told who holds the project, until the first releases it', async () => {
    const first = await mustAcquire('task_first');
    expect(await acquire('task_second')).toBe('task_first');
    expect(await locks.holderOf(project)).toEqual(first.holder);
    expect(first.holder).toMatchObject({
      project_path: project,
      task_id: 'task_first',
      owner: await ownIdentity(),
    });
    expect(await first.release()).toBe('released');
    expect(await readdir(folder)).toEqual([]);
    expect(await locks.holderOf(project)).toBeUndefined();
    expect(await first.release()).toBe('lost');
    await mustAcquire('task_second');
  });

  test('another project is another lock', async () => {
    await mustAcquire();
    expect(typeof (await acquire(undefined, undefined, '/home/me/other'))).toBe('object');
  });

  test('a dead owner holds nothing, and its late release touches nobody else’s lock', async () => {
    const late = await mustAcquire('task_dead', dead);
    expect(await locks.holderOf(project)).toBeUndefined();
    const heir = await mustAcquire('task_heir');
    expect(await late.release()).toBe('lost');
    expect(await locks.holderOf(project)).toEqual(heir.holder);
    expect(await readdir(folder)).toHaveLength(1);
  });

  test('a lock that was taken for another process is released while that is dead, too', async () => {
    const lock = await mustAcquire('task_dead', dead);
    expect(await lock.release()).toBe('released');
    expect(await readdir(folder)).toEqual([]);
  });

  test('an owner of whom nothing is known keeps its lock', async () => {
    const unknown = { pid: process.pid, start_time: null, boot_id: null };
    await mustAcquire('task_unknown', unknown);
    expect(await acquire()).toBe('task_unknown');
  });

  test('an owner in another pid namespace keeps its lock, though nothing runs under its pid here', async () => {
    const there = { ...(await ownIdentity()), pid: 2 ** 22 - 1, namespace: 'pid:[1]' };
    const lock = await mustAcquire('task_there', there);
    expect(await acquire()).toBe('task_there');
    expect((await locks.table()).dead).toEqual([]);
    expect(await lock.release()).toBe('released');
  });

  test('a taker that died while taking over is taken over itself, three deep, and swept', async () => {
    await mustAcquire('task_dead', dead);
    const path = await lockFile();
    const text = await readFile(path, 'utf8');
    const taker = `${path}.takeover.task_dead`;
    await writeFile(taker, text.replace('task_dead', 'task_taker'));
    await writeFile(`${taker}.takeover.task_taker`, text.replace('task_dead', 'task_third'));
    const left = `${path}.takeover.task_of_old`;
    await writeFile(left, text);
    await writeFile(`${path}.0123456789ab.tmp`, text);
    await mustAcquire('task_heir');
    expect(await readdir(folder)).toHaveLength(1);
  });

  test('a taker that lives is waited for, and named when it does not finish', async () => {
    const clock: Clock = { ...systemClock, after: (_delayMs, done) => systemClock.after(0, done) };
    locks = new ProjectLocks(folder, clock, () => undefined);
    await mustAcquire('task_dead', dead);
    const path = await lockFile();
    const taker = JSON.stringify({
      version: 1,
      project_path: project,
      task_id: 'task_taker',
      owner: await ownIdentity(),
      since: '',
    });
    await writeFile(`${path}.takeover.task_dead`, taker);
    expect(await acquire('task_heir')).toBe('task_taker');
  });

  test('a corrupt lock is set aside under its name and told', async () => {
    await (await mustAcquire()).release();
    await mustAcquire('task_dead');
    const path = await lockFile();
    await writeFile(path, '{"version":1,"proj');
    await utimes(path, 1_000, 1_000);
    await mustAcquire('task_heir');
    expect(corrupt).toMatchObject([{ path, setAsideAs: `${path}.corrupt` }]);
    expect(corrupt[0]?.why).toContain('not JSON');
    expect(await readFile(`${path}.corrupt`, 'utf8')).toBe('{"version":1,"proj');
    expect(await readdir(folder)).toHaveLength(2);
  });

  test.each([
    { when: 'in this very millisecond', seconds: 1_700_000_000.000_7 },
    { when: 'a moment ago', seconds: 1_699_999_999.9 },
  ])('a corrupt lock that was written $when is waited for', async ({ seconds }) => {
    let waitedMs = 0;
    const holder = await mustAcquire('task_slow');
    const path = await lockFile();
    const whole = await readFile(path, 'utf8');
    await writeFile(path, '');
    await utimes(path, seconds, seconds);
    const clock: Clock = {
      ...systemClock,
      now: () => 1_700_000_000_000,
      after: (delayMs, done) => {
        waitedMs += delayMs;
        void writeFile(path, whole).then(done);
        return { dispose: () => undefined };
      },
    };
    locks = new ProjectLocks(folder, clock, (found) => corrupt.push(found));
    expect(await acquire()).toBe('task_slow');
    expect(waitedMs).toBeGreaterThan(2_000);
    expect(corrupt).toEqual([]);
    await holder.release();
  });

  test('a lock of a newer version is left alone', async () => {
    await mustAcquire();
    const path = await lockFile();
    await writeFile(path, '{"version":2}');
    await expect(acquire()).rejects.toThrow(`The lock ${path} was written by a newer version of the bridge.`);
  });

  test('makes its folder again when it is gone, and says so when it cannot be written', async () => {
    await rm(folder, { recursive: true });
    await (await mustAcquire()).release();
    await rm(folder, { recursive: true });
    await writeFile(folder, 'a file');
    await expect(acquire()).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
  });
});

describe('a project that lies in another', () => {
  test.each([
    ['a folder of a busy project', '/p/app', '/p/app/packages/one'],
    ['the parent of a busy project', '/p/app/packages/one', '/p/app'],
    ['the root of everything', '/p/app', '/'],
  ])('%s is busy by the same task', async (_which, busy, wanted) => {
    await acquire('task_first', undefined, busy);
    expect(await acquire('task_second', undefined, wanted)).toBe('task_first');
  });

  test.each([
    ['a sibling whose name begins alike', '/p/app', '/p/app-two'],
    ['a worktree of a task', '/p/app', '/p/app/.claude/worktrees/task_0123456789abcdef0123'],
    ['the project of a worktree', '/p/app/.claude/worktrees/task_0123456789abcdef0123/sub', '/p/app'],
  ])('%s is free', async (_which, busy, wanted) => {
    await acquire('task_first', undefined, busy);
    expect(typeof (await acquire('task_second', undefined, wanted))).toBe('object');
  });

  test('is free when its holder is dead', async () => {
    await acquire('task_dead', dead, '/p/app');
    expect(typeof (await acquire('task_heir', undefined, '/p/app/sub'))).toBe('object');
  });
});

describe('a lock reserved for a task', () => {
  async function reserve(taskId: string, owner?: ProcessIdentity): Promise<Lock> {
    const wish = { projectPath: project, taskId, owner: owner ?? (await ownIdentity()) };
    return locks.exclusively((table) => table.reserve(wish));
  }

  test('is held for everyone else, and taken by the task once', async () => {
    const reserved = await reserve('task_mine');
    expect(await acquire('task_other')).toBe('task_mine');
    const taken = await mustAcquire('task_mine');
    expect(await acquire('task_mine')).toBe('task_mine');
    expect(await reserved.release()).toBe('lost');
    expect(await locks.holderOf(project)).toEqual(taken.holder);
    expect(await taken.release()).toBe('released');
    expect(await readdir(folder)).toEqual([]);
  });

  test('is free again when it is given back, or when who reserved it is dead', async () => {
    expect(await (await reserve('task_first')).release()).toBe('released');
    await reserve('task_second', dead);
    expect((await locks.table()).dead).toMatchObject([{ task_id: 'task_second', reserved: true }]);
    await mustAcquire('task_third');
  });
});

test('a critical section that fails releases what it had reserved', async () => {
  const owner = await ownIdentity();
  const failing = locks.exclusively(async (table) => {
    for (const taskId of ['task_one', 'task_two'])
      await table.reserve({ projectPath: `/p/${taskId}`, taskId, owner });
    throw new Error('no space left');
  });
  await expect(failing).rejects.toThrow('no space left');
  expect(await locks.exclusively(async ({ held }) => held)).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
});

test('a reservation that cannot be given back now is given back as soon as that works', async () => {
  const clock = new ManualClock();
  const slow = new ProjectLocks(folder, clock, () => undefined);
  onTestFinished(() => slow.dispose());
  const owner = await ownIdentity();
  const reserved = await slow.exclusively((table) =>
    table.reserve({ projectPath: project, taskId: 'task_failed', owner }),
  );
  const away = `${folder}-away`;
  await rename(folder, away);
  await writeFile(folder, 'no folder');
  expect(await reserved.release()).toBe('later');
  await rm(folder);
  await rename(away, folder);
  expect((await locks.table()).held).toMatchObject([{ task_id: 'task_failed' }]);
  clock.advance(1_000);
  await expect.poll(() => readdir(folder)).toEqual([]);
  await mustAcquire('task_next');
});

test('critical sections run one after the other, and one that fails stops none', async () => {
  const steps: string[] = [];
  const failing = locks.exclusively(async () => {
    steps.push('first');
    await new Promise(setImmediate);
    throw new Error('no');
  });
  const second = locks.exclusively(async ({ held }) => {
    steps.push('second');
    return held.length;
  });
  await expect(failing).rejects.toThrow('no');
  expect(await second).toBe(0);
  expect(steps).toEqual(['first', 'second']);
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

describe('a process that leaves in the middle of a critical section', () => {
  test('releases it at once, keeps the locks of its tasks, and begins no other', async () => {
    const held = await mustAcquire('task_first');
    let finish = (): void => {};
    let section: Promise<void> | undefined;
    await new Promise<void>((begun) => {
      section = locks.exclusively(async () => {
        begun();
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
      });
    });
    expect(await readdir(folder)).toContain('decision');
    locks.dispose();
    expect(await readdir(folder)).toEqual([basename(await lockFile())]);
    expect(await locks.holderOf(project)).toEqual(held.holder);
    finish();
    await section;
    await expect(acquire('task_second')).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
  });

  test('takes nothing from a critical section of another process', async () => {
    await locks.exclusively(async () => {
      const path = join(folder, 'decision');
      const text = await readFile(path, 'utf8');
      await writeFile(path, text.replace(`"pid":${process.pid}`, `"pid":${process.ppid}`));
      locks.dispose();
      expect(await readdir(folder)).toEqual(['decision']);
    });
  });
});

describe('processes that race for one project', () => {
  let racers: LockRacers;
  beforeEach(async () => {
    racers = await LockRacers.start(RACERS, folder);
  }, 60_000);
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
        if (fromDead) await locks.acquire({ projectPath: parent, taskId: 'task_dead', owner: dead });
        const won = await racers.race([parent, `${parent}/child`]);
        owners.push(won.length);
        expect((await locks.table()).held.map(({ task_id }) => task_id)).toEqual(won);
        await racers.release();
      }
      expect(owners).toEqual(owners.map(() => 1));
      expect((await readdir(folder)).filter((name) => !/^[0-9a-f]{64}$/.test(name))).toEqual([]);
    },
    120_000,
  );

  test('racers killed in the middle leave a project that the next one gets', async () => {
    await locks.acquire({ projectPath: project, taskId: 'task_dead', owner: dead });
    const exits = racers.processes.map((racer) => once(racer, 'exit'));
    const tries = Array.from({ length: 20 }, () => ({ project, task: createTaskId() }));
    for (const [index, racer] of racers.processes.entries()) {
      racer.send({ do: 'acquire', tries });
      if (index > 0) setImmediate(() => racer.kill('SIGKILL'));
    }
    await once(racers.processes[0] ?? process, 'message');
    racers.processes[0]?.kill('SIGKILL');
    await Promise.all(exits);
    const lock = await mustAcquire();
    expect(await lock.release()).toBe('released');
  });
});
