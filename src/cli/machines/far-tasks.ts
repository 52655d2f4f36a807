import { z } from 'zod';
import { BridgeError, messageOf } from '../../base/errors.js';
import { createSecret, farIdOf, idOn, TASK_ID_PATTERN } from '../../base/ids.js';
import { systemClock } from '../../base/system-clock.js';
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
import type { Machine, Machines } from '../../machines/machine.js';
import { MachineTasks } from '../../machines/machine-tasks.js';
import type { TakeChunk } from '../../os/run-program.js';
import type { StartTask, TaskPage, TaskQuery, TaskService } from '../../tasks/task-service.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { FinishedTask, FinishTask } from '../../tasks/task-finisher.js';
import type { FarLine } from '../attach/attach-session.js';
import { findTask, type ShelfWords, type TaskShelf } from '../find-task.js';

/** A person waits for a line that opens, and not for one that cannot. */
const OPEN_MS = 10_000;
/** Of one call of a tool there: it answers in 45 s. */
const CALL_MS = 60_000;
/** Checks in a clean copy are asked for again and again so long: ten of four hours, each twice. */
const MAX_VERIFY_MS = 80 * 3_600_000;

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
export type StartLimits = Parameters<typeof startArgs>[2];

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

  /** Passes the patch of a task on; resolves with what is to be said about it. */
  async patch(record: TaskRecord, take: TakeChunk, lost: AbortSignal): Promise<readonly string[]> {
    const { machine, id } = this.#placeOf(record);
    for (let offset = 0; ;) {
      const request = { signal: lost, repeats: true, timeoutMs: CALL_MS };
      const page = await machine
        .call('task.patch', { task_id: id, offset }, request)
        .catch(rethrown(machine));
      if (page.bytes !== undefined) await take(Buffer.from(page.bytes, 'base64'));
      const { next_offset: next } = page;
      if (next === undefined || next <= offset || lost.aborted) return page.notes;
      offset = next;
    }
  }

  /** As the tool there does it. Throws what it throws. */
  async finish({ taskId, action, reviewed, anyway }: FinishTask): Promise<FinishedTask> {
    const record = await this.tasks.get(taskId);
    const answer = await this.#tool(record, 'finish_task', {
      action,
      ...(reviewed !== undefined && { reviewed }),
      ...(anyway === true && { anyway }),
      request_id: createSecret(),
    });
    const { message } = finishedSchema.parse(answer);
    return { record: await this.tasks.get(taskId), notes: [message] };
  }

  /** As the tool there does it, until the checks have ended. Throws INVALID_ARGUMENTS where a person has to allow them there. */
  async verify(record: TaskRecord): Promise<Verification> {
    const untilMs = systemClock.monotonicMs() + MAX_VERIFY_MS;
    for (;;) {
      const answer = verifiedSchema.parse(await this.#tool(record, 'verify_task', {}));
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
          `Run it in a terminal there: claude-code-bridge tasks verify ${this.#placeOf(record).id}`,
        );
    }
  }

  /** Starts a task on a machine, once also where the answer is lost. `path`: there. Throws what `start_task` there throws. */
  async start(name: string, input: StartTask): Promise<TaskRecord> {
    const machine = this.#machines.get(name);
    const { prompt, path, permissionMode, model, timeoutSeconds, onConflict, checks, untilMet } = input;
    const args = {
      ...{ prompt, path, model, checks },
      permission_mode: permissionMode,
      timeout_seconds: timeoutSeconds,
      max_cost_usd: input.maxCostUsd,
      max_tokens: input.maxTokens,
      until_met: untilMet,
      continue_from: input.continueFrom && (farIdOf(input.continueFrom)?.id ?? input.continueFrom),
      on_conflict: onConflict,
      request_id: createSecret(),
    };
    const request = { repeats: true, timeoutMs: CALL_MS };
    const limited = { ...args, ...startArgs(name, args, this.#limits) };
    const answer = await machine.callTool('start_task', limited, request).catch(rethrown(machine));
    return this.tasks.get(idOn(name, startedSchema.parse(answer).task_id));
  }

  /** The terminal of a task there; undefined for a task of this machine. */
  lineOf(record: TaskRecord): FarLine | undefined {
    const machine = this.machineOf(record);
    if (machine === undefined) return undefined;
    const { id } = this.#placeOf(record);
    return {
      machine: machine.name,
      cutSinceMs: () => (machine.state.how === 'unverifiable' ? machine.state.sinceMs : undefined),
      reopen: async () => {
        const channel = await machine.openChannel({ kind: 'terminal', task_id: id }).catch(rethrown(machine));
        return new KeeperClient(record.task_id, channelStream(channel));
      },
    };
  }

  async #tool(record: TaskRecord, name: string, args: object): Promise<unknown> {
    const { machine, id } = this.#placeOf(record);
    const request = { repeats: true, timeoutMs: CALL_MS };
    return machine.callTool(name, { task_id: id, ...args }, request).catch(rethrown(machine));
  }

  #placeOf(record: TaskRecord): { readonly machine: Machine; readonly id: string } {
    const machine = this.machineOf(record);
    if (machine === undefined) throw new Error(`${record.task_id} is a task of this machine`);
    return { machine, id: farIdOf(record.task_id)?.id ?? record.task_id };
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
