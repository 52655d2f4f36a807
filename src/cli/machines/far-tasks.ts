import { z } from 'zod';
import { BridgeError, messageOf } from '../../base/errors.js';
import { farIdOf, idOn, TASK_ID_PATTERN } from '../../base/ids.js';
import { systemClock } from '../../base/system-clock.js';
import {
  checkResultSchema,
  metWords,
  notesOf,
  testVerdictSchema,
  type Verification,
} from '../../checks/result.js';
import { errorFrom } from '../../machines/far-records.js';
import type { Machine, Machines } from '../../machines/machine.js';
import { MachineTasks, type MachineTasksOptions } from '../../machines/machine-tasks.js';
import type { TaskPage, TaskQuery, TaskService } from '../../tasks/task-service.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { FarLine } from '../attach/attach-session.js';
import { findTask, type ShelfWords, type TaskShelf } from '../find-task.js';

/** A person waits for a line that opens, and not for one that cannot. */
const OPEN_MS = 10_000;
/** Checks in a clean copy are asked for again and again so long: ten of four hours, each twice. */
const MAX_VERIFY_MS = 80 * 3_600_000;

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

  /** The machine of a task; undefined for one of this machine. */
  machineOf({ task_id }: Pick<TaskRecord, 'task_id'>): Machine | undefined {
    const far = farIdOf(task_id);
    return far && this.#machines.get(far.machine);
  }

  /** All pages of a list; the notes say which machines do not answer. */
  async list(query: TaskQuery): Promise<TaskPage & { readonly notes?: readonly string[] | undefined }> {
    await this.#open(this.#machines.all);
    const first = await this.tasks.list(query);
    const tasks = [...first.tasks];
    const limit = query.limit ?? Infinity;
    let { cursor } = first;
    while (cursor !== undefined && tasks.length < limit) {
      const page = await this.tasks.list({ ...query, cursor });
      tasks.push(...page.tasks);
      cursor = page.cursor;
    }
    return { ...first, tasks, cursor: undefined };
  }

  /**
   * As `findTask`. An id with its machine is looked for there alone, one without it here, and on all machines where this one does not know it. Throws
   * MACHINE_NOT_FOUND and MACHINE_UNREACHABLE, too.
   */
  async find(given: string | undefined, shelf: TaskShelf, words: ShelfWords): Promise<TaskRecord> {
    const read = (id: string): Promise<TaskRecord> => this.tasks.get(id);
    const active = async () => (await this.list({ status: 'active' })).tasks;
    const far = given === undefined ? undefined : farIdOf(given);
    if (given === undefined) return findTask({ ...shelf, active }, given, words);
    if (far !== undefined) {
      const machine = this.#machines.get(far.machine);
      const isWhole = TASK_ID_PATTERN.test(far.id);
      if (isWhole) return read(given);
      return findTask({ read, active, ids: () => this.#idsOf(machine) }, given, words);
    }
    try {
      return await findTask(shelf, given, words);
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code !== 'TASK_NOT_FOUND') throw error;
      const asked = await Promise.allSettled(this.#machines.all.map((machine) => this.#idsOf(machine)));
      const ids = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      const silent = asked.flatMap((one) => (one.status === 'rejected' ? [messageOf(one.reason)] : []));
      return findTask({ read, active, ids: () => Promise.resolve(ids) }, given, words).catch(
        (none: unknown) => {
          if (!(none instanceof BridgeError) || silent.length === 0) throw none;
          throw new BridgeError(none.code, [none.message, ...silent].join(' '), none.next);
        },
      );
    }
  }

  /** As the tool there does it, until the checks have ended. Throws INVALID_ARGUMENTS where a person has to allow them there. */
  async verify({ task_id }: TaskRecord): Promise<Verification> {
    const place = this.tasks.placeOf(task_id);
    if (place === undefined) throw new Error(`${task_id} is a task of this machine`);
    const { far, id } = place;
    const untilMs = systemClock.monotonicMs() + MAX_VERIFY_MS;
    for (;;) {
      const answer = verifiedSchema.parse(await far.tool('verify_task', { task_id: id }));
      const { checks, message, tests, tests_changed, outside_brief, linked } = answer;
      const results = checks?.results.map((one) => ({ ...one, command: '' }));
      if (results !== undefined)
        return {
          ...{ rounds: 0, results, tests, linked, notes: notesIn(message, { results, tests }) },
          ...(tests_changed !== undefined && { tests_changed }),
          ...(outside_brief !== undefined && { outside_brief }),
        };
      if (!STILL_RUNS.test(message) || systemClock.monotonicMs() > untilMs)
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          message,
          `Run it in a terminal there: claude-code-bridge tasks verify ${id}`,
        );
    }
  }

  /** The terminal of a task there; undefined for a task of this machine. */
  lineOf(record: TaskRecord): FarLine | undefined {
    const place = this.tasks.placeOf(record.task_id);
    if (place === undefined) return undefined;
    const { far, id } = place;
    const { machine } = far;
    return {
      machine: machine.name,
      cutSinceMs: () => (machine.state.how === 'unverifiable' ? machine.state.sinceMs : undefined),
      reopen: () => far.terminal(id),
    };
  }

  /** The ids of all tasks of a machine, newest first. */
  async #idsOf(machine: Machine): Promise<string[]> {
    const ids: string[] = [];
    let cursor: string | undefined;
    do {
      const request = { repeats: true, timeoutMs: OPEN_MS };
      const page = await machine.call('task.list', { cursor }, request).catch(rethrown(machine));
      ids.push(...page.tasks.map(({ task_id }) => idOn(machine.name, task_id)));
      cursor = page.cursor;
    } while (cursor !== undefined);
    return ids;
  }

  /** Gives lines the time to open. A list says which did not. */
  async #open(machines: readonly Machine[]): Promise<void> {
    const request = { repeats: true, timeoutMs: OPEN_MS };
    await Promise.allSettled(machines.map((machine) => machine.call('task.list', { limit: 1 }, request)));
  }
}

/** What the words of `verify_task` say beside the results. */
function notesIn(message: string, found: Pick<Verification, 'results' | 'tests'>): string[] {
  const said = [`${metWords(found)}.`, ...notesOf({ rounds: 0, ...found })];
  const rest = said.reduce((text, words) => text.replace(words, ''), message).trim();
  return rest === '' ? [] : [rest];
}

/** What a machine throws, with the ids of its tasks as they are here. */
function rethrown(machine: Machine): (error: unknown) => never {
  return (error) => {
    throw errorFrom(machine.name, error);
  };
}
