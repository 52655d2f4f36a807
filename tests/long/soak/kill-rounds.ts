import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import { systemCodeOf } from '../../../src/base/errors.js';
import { isFinal, taskRecordSchema, type TaskRecord } from '../../../src/tasks/task.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge, type TestBridge } from '../../harness/start-bridge.js';
import type { TaskClient } from '../../harness/task-client.js';
import { seededRandom } from '../../harness/seeded-random.js';

export const victims = ['server', 'keeper', 'agent'] as const;
export type Victim = (typeof victims)[number];

/** A start takes about half of this, so that kills hit before, during and after it. */
const LONGEST_DELAY_MS = 1_500;
const GONE_LIMIT_MS = 10_000;
const LOOK_AGAIN_MS = 50;
const TELL_EVERY = 10;
/** Some kills come before there is anything to kill. */
const MAX_ROUNDS_PER_KILL = 4;
const MAX_PAGE_BYTES = 262_144;

const keeperEntry = join(dirname(serverEntry), 'keeper.js');
const startedSchema = z.looseObject({ task_id: z.string() });

/**
 * Kills the victim with SIGKILL at a random moment of a task, again and again, each time from a fresh server; and looks
 * from another one: every record is readable, the task is in a true state, what was read of its log is there still, and
 * nothing runs on.
 */
export async function killRounds(victim: Victim, rounds: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const bridge = await startBridge({ claude: scriptedAgent });
  const survivor = await bridge.another();
  let kills = 0;
  for (let round = 1; kills < rounds; round++) {
    const delayMs = Math.floor(random() * LONGEST_DELAY_MS);
    try {
      if (await killOnce(victim, bridge, survivor, delayMs)) kills++;
    } catch (error) {
      throw new Error(`round ${round} of seed ${seed}: the ${victim} killed after ${delayMs} ms`, {
        cause: error,
      });
    }
    if (round % TELL_EVERY === 0) process.stdout.write(`${victim}: ${kills} kills in ${round} rounds\n`);
    // A machine on which nothing has begun after the longest delay would never come to an end.
    expect(round).toBeLessThan(rounds * MAX_ROUNDS_PER_KILL + TELL_EVERY);
  }
  process.stdout.write(`${victim}: ${kills} kills, each followed by the truth\n`);
}

/** False when there was nothing yet to kill. */
async function killOnce(
  victim: Victim,
  bridge: TestBridge,
  survivor: TaskClient,
  delayMs: number,
): Promise<boolean> {
  const caller = victim === 'server' ? await bridge.another() : bridge;
  const known = new Set((await records(bridge)).map((record) => record.task_id));
  // A server that is killed never answers.
  const starting = caller.mcp
    .callTool('start_task', { prompt: 'AGENT: counts', path: bridge.project })
    .catch(() => undefined);
  await pause(delayMs);
  const before = (await records(bridge)).find((record) => !known.has(record.task_id));
  const readBefore = before === undefined ? [] : await numbersIn(before);
  const pid = victim === 'server' ? caller.mcp.pid : await pidOf(victim, bridge);
  const isKilled = pid !== undefined && killNow(pid);
  const answer = victim === 'server' ? undefined : await starting;
  await quiet(bridge, survivor, known);

  const after = (await records(bridge)).filter((record) => !known.has(record.task_id));
  for (const record of after) await judge(record, victim, survivor);
  const [task] = after;
  if (task !== undefined) {
    const numbers = await numbersIn(task);
    // No gap, and nothing that was read before is missing.
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(numbers.length).toBeGreaterThanOrEqual(readBefore.length);
  }
  // An id that was told is a task that can be found.
  const told = startedSchema.safeParse(answer?.structuredContent).data;
  if (told !== undefined) expect(after.map((record) => record.task_id)).toContain(told.task_id);
  return isKilled;
}

/** Ends what still runs, also a task that begins only now; nothing may be left of the last one after its time. */
async function quiet(bridge: TestBridge, survivor: TaskClient, known: ReadonlySet<string>): Promise<void> {
  const servers = [bridge.mcp.pid, survivor.mcp.pid].sort();
  let deadlineMs = performance.now() + GONE_LIMIT_MS;
  for (;;) {
    if (await settled(bridge, survivor, known)) deadlineMs = performance.now() + GONE_LIMIT_MS;
    const running = (await bridge.workplace.processes()).sort();
    if (running.join() === servers.join()) return;
    if (performance.now() > deadlineMs) expect(running).toEqual(servers);
    await pause(LOOK_AGAIN_MS);
  }
}

/** Ends what still runs; a server that was killed leaves its task running. True when there was something to settle. */
async function settled(
  bridge: TestBridge,
  survivor: TaskClient,
  known: ReadonlySet<string>,
): Promise<boolean> {
  let isSettled = false;
  for (const record of await records(bridge)) {
    if (known.has(record.task_id) || isFinal(record.status)) continue;
    isSettled = true;
    const view = await survivor.status(record.task_id);
    if (isFinal(view.status)) continue;
    await survivor.mcp.callTool('kill_task', { task_id: record.task_id });
    expect(isFinal((await survivor.end(record.task_id)).status)).toBe(true);
  }
  return isSettled;
}

async function judge(record: TaskRecord, victim: Victim, survivor: TaskClient): Promise<void> {
  const end = await survivor.end(record.task_id);
  const expected = { server: ['killed'], keeper: ['error', 'killed'], agent: ['failed', 'killed'] }[victim];
  expect(expected).toContain(end.status);
  expect(end.reason).not.toBe('');
  expect(end.elapsed_seconds).toBeGreaterThanOrEqual(0);
  const page = await survivor.output(record.task_id, 'events', { cursor: '0', max_bytes: MAX_PAGE_BYTES });
  const seqs = page.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => z.looseObject({ seq: z.number() }).parse(JSON.parse(line)).seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
}

/** Every record there is; fails when one cannot be read. */
async function records(bridge: TestBridge): Promise<TaskRecord[]> {
  const tasks = join(bridge.workplace.stateDir, 'tasks');
  const found: TaskRecord[] = [];
  for (const id of await namesIn(tasks)) {
    const text = await readFile(join(tasks, id, 'record.json'), 'utf8').catch((error: unknown) => {
      // Not yet, or not any more.
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    if (text !== undefined) found.push(taskRecordSchema.parse(JSON.parse(text)));
  }
  return found;
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

async function numbersIn(record: TaskRecord): Promise<number[]> {
  const text = await readFile(record.log_file, 'utf8').catch(() => '');
  return [...text.matchAll(/^n (\d+)$/gm)].map((match) => Number(match[1]));
}

/** Looked up among the processes: a record knows its keeper and its agent only after a while. */
async function pidOf(victim: 'keeper' | 'agent', bridge: TestBridge): Promise<number | undefined> {
  const script = victim === 'keeper' ? keeperEntry : scriptedAgent;
  for (const pid of await bridge.workplace.processes()) {
    // Not there any more when it has ended.
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.split('\0')[1] === script) return pid;
  }
  return undefined;
}

/** False when it ended by itself in between. */
function killNow(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (error) {
    if (systemCodeOf(error) !== 'ESRCH') throw error;
    return false;
  }
}
