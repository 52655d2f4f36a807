import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { createTaskId } from '../../../src/base/ids.js';
import { openStateDir, type StateDir } from '../../../src/store/state-dir.js';
import { taskRecordSchema, type TaskRecord } from '../../../src/tasks/task.js';
import { bundledProgram } from '../../harness/bundled-program.js';
import { sampleRecord } from '../../tasks/sample-task.js';

const RACERS = 4;
const ROUNDS = 25;
/** How many of the racers are killed while they recover. */
const KILLED = 2;

const program = bundledProgram(new URL('../../tasks/recovery-racer.ts', import.meta.url));
const recoveredSchema = z.object({ recovered: taskRecordSchema });

let folder: string;
let stateDir: StateDir;
let racers: ChildProcess[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recovery-races-'));
  stateDir = await openStateDir({ path: join(folder, 'state') });
  racers = [];
});
afterEach(async () => {
  for (const racer of racers) await end(racer);
  await rm(folder, { recursive: true, force: true });
});

async function end(racer: ChildProcess): Promise<void> {
  if (racer.exitCode !== null || racer.signalCode !== null) return;
  const exited = once(racer, 'exit');
  racer.kill('SIGKILL');
  await exited;
}

async function startRacers(count: number): Promise<void> {
  const started = Array.from({ length: count }, () => fork(program(), [stateDir.path], { execArgv: [] }));
  racers.push(...started);
  await Promise.all(started.map((racer) => once(racer, 'message')));
}

/** A task of a dead keeper, whose end every racer is told to write: every second one as `killed`. */
async function race(round: number, deaths: number) {
  const record = sampleRecord({ task_id: createTaskId(Date.now()), status: 'running' });
  await stateDir.createTaskDir(record.task_id);
  await writeFile(stateDir.recordFile(record.task_id), JSON.stringify(record));
  const trace = join(folder, `trace-${round}`);
  await writeFile(trace, '');
  const racing = racers.filter((racer) => racer.exitCode === null && racer.signalCode === null);
  const answers = racing.map(
    (racer) =>
      new Promise<TaskRecord | undefined>((resolve) => {
        const listen = (message: unknown): void => {
          const parsed = recoveredSchema.safeParse(message);
          if (parsed.success) done(parsed.data.recovered);
        };
        const onExit = (): void => done(undefined);
        const done = (answer: TaskRecord | undefined): void => {
          racer.off('message', listen);
          racer.off('exit', onExit);
          resolve(answer);
        };
        racer.on('message', listen);
        racer.on('exit', onExit);
      }),
  );
  for (const [index, racer] of racing.entries())
    racer.send({ record, isKill: (index + round) % 2 === 0, trace, deaths });
  const told = (await Promise.all(answers)).filter((answer) => answer !== undefined);
  const onDisk = taskRecordSchema.parse(
    JSON.parse(await readFile(stateDir.recordFile(record.task_id), 'utf8')),
  );
  return {
    told,
    onDisk,
    recoveries: (await readFile(trace, 'utf8')).split('\n').length - 1,
    // A claim that was left, or whose process is gone, stays as a number that is not used again.
    left: (await readdir(stateDir.taskDir(record.task_id))).filter(
      (name) => !name.startsWith('record.claim.'),
    ),
  };
}

it(`of ${RACERS} servers that give a task its end at once one does, and all tell the same end, ${ROUNDS} times`, async () => {
  await startRacers(RACERS);
  for (let round = 0; round < ROUNDS; round++) {
    const { told, onDisk, recoveries, left } = await race(round, 0);
    expect(told).toEqual(Array.from({ length: RACERS }, () => onDisk));
    expect(recoveries).toBe(1);
    expect(left).toEqual(['record.json']);
  }
}, 120_000);

it('a server that is killed while it gives a task its end is followed by one of the others', async () => {
  for (let round = 0; round < 5; round++) {
    await startRacers(RACERS);
    const { told, onDisk, recoveries, left } = await race(round, KILLED);
    expect(told).toEqual(Array.from({ length: RACERS - KILLED }, () => onDisk));
    expect(['killed', 'error']).toContain(onDisk.status);
    expect(recoveries).toBe(KILLED + 1);
    expect(left).toEqual(['record.json']);
    for (const racer of racers) await end(racer);
  }
}, 120_000);
