import { z } from 'zod';
import { sleep } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { createSecret, farIdOf, idOn, TASK_ID_PATTERN } from '../../base/ids.js';
import { systemClock } from '../../base/system-clock.js';
import { shownLine } from '../../base/text.js';
import {
  checkResultSchema,
  metWords,
  notesOf,
  testVerdictSchema,
  type Verification,
} from '../../checks/result.js';
import { KeeperClient } from '../../keeper/host/keeper-client.js';
import { channelStream } from '../../machines/channel-stream.js';
import { errorFrom } from '../../machines/far-records.js';
import { startArgs } from '../../machines/far-tools.js';
import { PATCH_PART_BYTES } from '../../machines/link-protocol.js';
import type { Machine, Machines } from '../../machines/machine.js';
import { MachineTasks } from '../../machines/machine-tasks.js';
import type { TakeChunk } from '../../os/run-program.js';
import type { StartTask, TaskPage, TaskQuery, TaskService } from '../../tasks/task-service.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { FinishedTask, FinishTask } from '../../tasks/task-finisher.js';
import type { FarLine } from '../attach/attach-session.js';
import { findTask, MAX_LISTED, type ShelfWords, type TaskShelf } from '../find-task.js';

/** A person waits for a line that opens, and not for one that cannot. */
const OPENS = { repeats: true, timeoutMs: 10_000 };
/** One call of a tool there: it answers in 45 s. What changes something has a request id. */
const CALL = { repeats: true, timeoutMs: 60_000 };
/** Before it is asked again whether checks have ended. */
const AGAIN_MS = 1_000;
/** Of a patch, which a person reads or applies. */
const MAX_PATCH_BYTES = 64 * 1024 * 1024;
/** So many, however small they are. */
const MAX_PATCH_PARTS = 2 * (MAX_PATCH_BYTES / PATCH_PART_BYTES);
/** Of a list: five times what MAX_LISTED tasks take. */
const MAX_PAGES = 500;

const startedSchema = z.object({ task_id: z.string().regex(TASK_ID_PATTERN) });
const finishedSchema = z.object({ message: z.string().max(100_000) });
const verifiedSchema = z.object({
  checks: z.object({ results: z.array(checkResultSchema.omit({ command: true })).max(100) }).optional(),
  tests: z.array(testVerdictSchema).max(10_000).default([]),
  tests_changed: z.string().optional(),
  outside_brief: z.array(z.string()).optional(),
  linked: z.array(z.string()).default([]),
  message: z.string().max(100_000),
});
/** What `verify_task` says while its checks run on. */
const STILL_RUNS = /^The checks still run\./;

/** What the settings here say of tasks, which holds for those that are started there, too. */
type StartLimits = Parameters<typeof startArgs>[2];

/** The tasks of the machines of the settings, beside those of this one. */
export class FarTasks {
  readonly tasks: MachineTasks;
  readonly #machines: Machines;
  readonly #limits: StartLimits;

  constructor(local: TaskService, machines: Machines, limits: StartLimits) {
    this.#machines = machines;
    this.#limits = limits;
    this.tasks = new MachineTasks({ local, machines, clock: systemClock });
  }

  dispose(): void {
    this.tasks.dispose();
    this.#machines.dispose();
  }

  /** Undefined for a task of this machine. */
  at(taskId: string) {
    const far = farIdOf(taskId);
    return far && taskOn(this.#machines.get(far.machine), far.id, this.tasks);
  }

  /** All pages of a list; the notes say which machines do not answer. */
  async list(query: Omit<TaskQuery, 'limit' | 'cursor'>): Promise<TaskPage> {
    // Gives lines the time to open.
    await Promise.allSettled(this.#machines.all.map((one) => one.call('task.list', { limit: 1 }, OPENS)));
    const first = await this.tasks.list({ ...query, limit: MAX_LISTED });
    const tasks = await allOf(first, (cursor) => this.tasks.list({ ...query, limit: MAX_LISTED, cursor }));
    return { ...first, tasks, cursor: undefined };
  }

  /**
   * As `findTask`. An id with its machine is looked for there alone, one without it here, and on all machines where this one does not know it. Throws
   * MACHINE_NOT_FOUND and MACHINE_UNREACHABLE, too.
   */
  async find(given: string | undefined, shelf: TaskShelf, words: ShelfWords): Promise<TaskRecord> {
    const far = given === undefined ? undefined : farIdOf(given);
    if (given !== undefined && far !== undefined && TASK_ID_PATTERN.test(far.id))
      return this.tasks.get(given);
    if (far === undefined) {
      const active = async () => (await this.list({ status: 'active' })).tasks;
      const here = await findTask({ ...shelf, active }, given, words).catch((error: unknown) => {
        if (given === undefined || !isUnknown(error)) throw error;
      });
      if (here !== undefined) return here;
    }
    const asked = far === undefined ? this.#machines.all : [this.#machines.get(far.machine)];
    const answers = await Promise.allSettled(asked.map(idsOf));
    const ids = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    const silent = answers.flatMap((one) => (one.status === 'rejected' ? [one] : []));
    if (far !== undefined && silent[0] !== undefined) throw silent[0].reason;
    const there = { ids: () => Promise.resolve(ids), read: (id: string) => this.tasks.get(id) };
    return findTask({ ...shelf, ...there }, given, words).catch((error: unknown) => {
      if (!isUnknown(error)) throw error;
      const message = [error.message, ...silent.map(({ reason }) => messageOf(reason))].join(' ');
      throw new BridgeError(error.code, message, error.next);
    });
  }

  /** Starts a task on a machine, once also where the answer is lost. `path`: there. Throws what `start_task` there throws. */
  async start(name: string, input: StartTask): Promise<TaskRecord> {
    const { prompt, path, model, checks, continueFrom } = input;
    const args = {
      ...{ prompt, path, model, checks },
      permission_mode: input.permissionMode,
      timeout_seconds: input.timeoutSeconds,
      max_cost_usd: input.maxCostUsd,
      max_tokens: input.maxTokens,
      until_met: input.untilMet,
      continue_from: continueFrom && (farIdOf(continueFrom)?.id ?? continueFrom),
      on_conflict: input.onConflict,
      request_id: createSecret(),
    };
    const limited = { ...args, ...startArgs(name, args, this.#limits) };
    const machine = this.#machines.get(name);
    const answer = await machine.callTool('start_task', limited, CALL).catch(rethrown(machine));
    return this.tasks.get(idOn(name, startedSchema.parse(answer).task_id));
  }
}

/** A task of another machine, by its id there. What is done to it is done by the bridge there, and its errors are thrown. */
function taskOn(machine: Machine, id: string, tasks: MachineTasks) {
  const tool = (name: string, args: object): Promise<unknown> =>
    machine.callTool(name, { task_id: id, ...args }, CALL).catch(rethrown(machine));
  return {
    /** Passes its patch on; resolves with what is to be said about it. */
    patch: async (take: TakeChunk, lost: AbortSignal): Promise<readonly string[]> => {
      for (let offset = 0, parts = 0; ;) {
        const asked = machine.call('task.patch', { task_id: id, offset }, { ...CALL, signal: lost });
        const { bytes, next_offset: next, notes } = await asked.catch(rethrown(machine));
        if (bytes !== undefined) await take(Buffer.from(bytes, 'base64'));
        if (next === undefined || next <= offset || lost.aborted) return notes;
        offset = next;
        if (offset <= MAX_PATCH_BYTES && (parts += 1) <= MAX_PATCH_PARTS) continue;
        const message = `The patch of ${idOn(machine.name, id)} is longer than 64 MiB: what was printed is not all of it.`;
        const hint = `In a terminal there: claude-code-bridge tasks diff ${id} > work.patch`;
        throw new BridgeError('FILE_TOO_LARGE', message, hint);
      }
    },
    /** Undefined while it runs. */
    receipt: (signal: AbortSignal) => tasks.receiptOf(idOn(machine.name, id), signal),
    finish: async ({ taskId, action, reviewed, anyway }: FinishTask): Promise<FinishedTask> => {
      const args = { action, reviewed, ...(anyway === true && { anyway }), request_id: createSecret() };
      const { message } = finishedSchema.parse(await tool('finish_task', args));
      return { record: await tasks.get(taskId), notes: [message] };
    },
    /** Until the checks have ended. Throws INVALID_ARGUMENTS where a person has to allow them there. */
    verify: async (): Promise<Verification> => {
      for (;;) {
        const { checks, message, ...rest } = verifiedSchema.parse(await tool('verify_task', {}));
        if (checks !== undefined) {
          const found = {
            ...rest,
            rounds: 0,
            results: checks.results.map((one) => ({ ...one, command: '' })),
          };
          // Its words say what was found, and then notes of its own.
          const said = [`${metWords(found)}.`, ...notesOf(found)];
          const own = said.reduce((text, words) => text.replace(words, ''), message).trim();
          return { ...found, notes: own === '' ? [] : [own] };
        }
        if (STILL_RUNS.test(message)) {
          // The tool there waits, too, where it can be trusted.
          await sleep(systemClock, AGAIN_MS);
          continue;
        }
        const next = `Run it in a terminal there: claude-code-bridge tasks verify ${id}`;
        throw new BridgeError('INVALID_ARGUMENTS', shownLine(message), next);
      }
    },
    /** Its terminal. */
    line: {
      machine: machine.name,
      cutSinceMs: () => (machine.state.how === 'unverifiable' ? machine.state.sinceMs : undefined),
      reopen: async () => {
        const channel = await machine.openChannel({ kind: 'terminal', task_id: id }).catch(rethrown(machine));
        return new KeeperClient(idOn(machine.name, id), channelStream(channel));
      },
    } satisfies FarLine,
  };
}

/** The ids here of all tasks of a machine, newest first. */
async function idsOf(machine: Machine): Promise<string[]> {
  const page = (cursor?: string) => machine.call('task.list', { cursor }, OPENS).catch(rethrown(machine));
  const tasks = await allOf(await page(), page);
  return tasks.map(({ task_id }) => idOn(machine.name, task_id));
}

/** The tasks of all pages of a list. It is over, too, where a page has no tasks or does not move the cursor, and after MAX_PAGES. */
async function allOf(
  first: TaskPage,
  next: (cursor: string) => Promise<TaskPage>,
): Promise<readonly TaskRecord[]> {
  const tasks = [...first.tasks];
  let page = first;
  for (let pages = 1; pages < MAX_PAGES && tasks.length < MAX_LISTED; pages++) {
    const { cursor } = page;
    if (cursor === undefined || page.tasks.length === 0) break;
    page = await next(cursor);
    if (page.cursor === cursor) break;
    tasks.push(...page.tasks);
  }
  return tasks;
}

function isUnknown(error: unknown): error is BridgeError {
  return error instanceof BridgeError && error.code === 'TASK_NOT_FOUND';
}

/** What a machine throws, with the ids of its tasks as they are here. */
function rethrown(machine: Machine): (error: unknown) => never {
  return (error) => {
    throw errorFrom(machine.name, error);
  };
}
