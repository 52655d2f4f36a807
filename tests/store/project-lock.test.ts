import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { systemClock, type Clock } from '../../src/base/clock.js';
import { createTaskId } from '../../src/base/ids.js';
import { ownIdentity, type ProcessIdentity } from '../../src/store/process-identity.js';
import { ProjectLocks, type CorruptLock, type Lock } from '../../src/store/project-lock.js';

const RACERS = 4;
const TASKS_PER_RACER = 2;
const ROUNDS = 200;
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

  test('a taker that died while taking over is taken over itself, three deep, and swept', async () => {
    await mustAcquire('task_dead', dead);
    const path = await lockFile();
    const text = await readFile(path, 'utf8');
    const taker = `${path}.takeover.task_dead`;
    await writeFile(taker, text.replace('task_dead', 'task_taker'));
    await writeFile(`${taker}.takeover.task_taker`, text.replace('task_dead', 'task_third'));
    const left = `${path}.takeover.task_of_old`;
    await writeFile(left, text);
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

  test('a corrupt lock that was written just now is waited for', async () => {
    let waitedMs = 0;
    const holder = await mustAcquire('task_slow');
    const path = await lockFile();
    const whole = await readFile(path, 'utf8');
    await writeFile(path, '');
    const clock: Clock = {
      ...systemClock,
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

describe('processes that race for one project', () => {
  let racers: ChildProcess[];
  beforeEach(async () => {
    racers = Array.from({ length: RACERS }, () =>
      fork(new URL('lock-racer.ts', import.meta.url), [folder], { execArgv: ['--import', 'tsx'] }),
    );
    await Promise.all(racers.map((racer) => once(racer, 'message')));
  });
  afterEach(async () => {
    const running = racers.filter((racer) => racer.exitCode === null && racer.signalCode === null);
    const exits = running.map((racer) => once(racer, 'exit'));
    for (const racer of running) racer.kill('SIGKILL');
    await Promise.all(exits);
  });

  /** What every racer answers to an order that all of them get at once. */
  async function all(order: object): Promise<unknown[]> {
    const answers = racers.map(async (racer): Promise<unknown> => {
      const message: unknown[] = await once(racer, 'message');
      return message[0];
    });
    for (const racer of racers) racer.send(order);
    return Promise.all(answers);
  }

  const wonSchema = z.array(z.object({ won: z.array(z.string()) }));

  async function winners(round: number): Promise<string[]> {
    const tasks = Array.from({ length: TASKS_PER_RACER }, createTaskId);
    return wonSchema
      .parse(await all({ do: 'acquire', project: `/p/${round}`, tasks }))
      .flatMap(({ won }) => won);
  }

  test.each([
    ['a free project', false],
    ['the lock of a dead owner', true],
  ])(
    `${ROUNDS} times from %s: one owner, and nothing left over`,
    async (_from, fromDead) => {
      const owners: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        if (fromDead) await locks.acquire({ projectPath: `/p/${round}`, taskId: 'task_dead', owner: dead });
        const won = await winners(round);
        owners.push(won.length);
        expect((await locks.holderOf(`/p/${round}`))?.task_id).toBe(won[0]);
        await all({ do: 'release' });
      }
      expect(owners).toEqual(owners.map(() => 1));
      expect(await readdir(folder)).toEqual([]);
    },
    60_000,
  );

  test('racers killed in the middle leave a project that the next one gets', async () => {
    await locks.acquire({ projectPath: project, taskId: 'task_dead', owner: dead });
    const exits = racers.map((racer) => once(racer, 'exit'));
    for (const [index, racer] of racers.entries()) {
      racer.send({ do: 'acquire', project, tasks: Array.from({ length: 20 }, createTaskId) });
      if (index > 0) setImmediate(() => racer.kill('SIGKILL'));
    }
    await once(racers[0] ?? process, 'message');
    racers[0]?.kill('SIGKILL');
    await Promise.all(exits);
    const lock = await mustAcquire();
    expect(await lock.release()).toBe('released');
  });
});
