import { z } from 'zod';
import { sleep } from '../../base/clock.js';
import { BridgeError, messageOf } from '../../base/errors.js';
import { farIdOf, idOn, TASK_ID_PATTERN } from '../../base/ids.js';
import { systemClock } from '../../base/system-clock.js';
import { shownLine } from '../../base/text.js';
import {
  checkResultSchema,
  metWords,
  notesOf,
  testVerdictSchema,
  type Verification,
} from '../../checks/result.js';
import { errorFrom } from '../../machines/far-records.js';
import type { Machine, Machines } from '../../machines/machine.js';
import { MachineTasks, type FarPlace, type MachineTasksOptions } from '../../machines/machine-tasks.js';
import type { TakeChunk } from '../../os/run-program.js';
import type { TaskPage, TaskQuery, TaskService } from '../../tasks/task-service.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { FinishTask } from '../../tasks/task-finisher.js';
import type { FarLine } from '../attach/attach-session.js';
import { findTask, MAX_LISTED, type ShelfWords, type TaskShelf } from '../find-task.js';

/** A person waits for a line that opens, and not for one that cannot. */
const OPENS = { repeats: true, timeoutMs: 10_000 };
/** Before it is asked again whether checks have ended. */
const AGAIN_MS = 1_000;
/** Of a list: five times what MAX_LISTED tasks take. */
const MAX_PAGES = 500;

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

/** The tasks of the machines of the settings, beside those of this one. */
export class FarTasks {
  readonly tasks: MachineTasks;
  readonly #machines: Machines;

  constructor(local: TaskService, machines: Machines, limits: MachineTasksOptions['limits']) {
    this.#machines = machines;
    this.tasks = new MachineTasks({ local, machines, limits, clock: systemClock });
  }

  dispose(): void {
    this.tasks.dispose();
    this.#machines.dispose();
  }

  /** Undefined for a task of this machine. */
  at(taskId: string) {
    const place = this.tasks.placeOf(taskId);
    return place && taskOn(place);
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
}

/** A task of another machine, by its id there. What is done to it is done by the bridge there, and its errors are thrown. */
function taskOn({ far, id }: FarPlace) {
  const { machine } = far;
  return {
    /** Passes its patch on; resolves with what is to be said about it. */
    patch: async (take: TakeChunk, lost: AbortSignal): Promise<readonly string[]> =>
      (await far.patch(id, take, lost)).notes,
    /** Undefined while it runs. */
    receipt: (signal: AbortSignal) => far.receiptOf(id, signal),
    finish: (query: FinishTask) => far.finish(id, query),
    /** Until the checks have ended. Throws INVALID_ARGUMENTS where a person has to allow them there. */
    verify: async (): Promise<Verification> => {
      for (;;) {
        const { checks, message, ...rest } = verifiedSchema.parse(
          await far.tool('verify_task', { task_id: id }),
        );
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
      reopen: () => far.terminal(id),
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
