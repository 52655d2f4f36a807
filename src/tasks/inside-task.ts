import { BridgeError } from '../base/errors.js';
import type { Event } from '../base/event.js';
import type { Disposable } from '../base/lifecycle.js';
import type { DecisionAnswer } from './task-host.js';
import type {
  OutputPage,
  OutputQuery,
  StartTask,
  TaskMessage,
  TaskPage,
  TaskQuery,
  TaskService,
  TaskWait,
  WaitOutcome,
} from './task-service.js';
import type { PermissionMode, TaskRecord } from './task.js';

/** How far a task may be from one that a person's client started. */
const MAX_TASK_DEPTH = 2;

/** What a server may do that runs inside a task. */
export type InsideAllowance = 'off' | 'look' | 'start';

export interface InsideTaskOptions {
  readonly tasks: TaskService;
  readonly allows: InsideAllowance;
  /** The marks of this process and of those above it, nearest first; empty outside of tasks. */
  readonly marks: () => Promise<readonly string[]>;
  /** False when only a process above this one has a mark: somebody removed it from the environment on the way. */
  readonly isMarked: boolean;
  /** Throws NATIVE_SESSION for a task that is the session around this process. */
  readonly requireOutside: (record: TaskRecord) => Promise<void>;
}

/** The error of a call that a server does not carry out inside a task. */
export function insideTaskFault(what: string, hint: string): BridgeError {
  return new BridgeError(
    'INSIDE_TASK',
    `The bridge runs inside one of its own tasks here, and does not ${what}.`,
    hint,
  );
}

/**
 * The tasks as a server sees them that may run inside one of them. There it answers no decision; it starts tasks only with
 * the setting `inside_tasks: "start"`, never in a wider permission mode than that of the task around it; and it ends,
 * messages and continues only tasks that the task around it started. Outside of tasks it changes nothing.
 */
export class InsideTask implements TaskService {
  readonly #options: InsideTaskOptions;
  readonly #tasks: TaskService;
  readonly onDidChange: Event<string>;

  constructor(options: InsideTaskOptions) {
    this.#options = options;
    this.#tasks = options.tasks;
    this.onDidChange = options.tasks.onDidChange;
  }

  /** Throws INSIDE_TASK, and as `TaskService.start`. */
  async start(input: StartTask): Promise<TaskRecord> {
    const around = await this.#around();
    if (around === undefined) return this.#tasks.start(input);
    this.#requireStart();
    const depth = Math.max(0, ...around.map((record) => record.parent?.depth ?? 0)) + 1;
    if (depth > MAX_TASK_DEPTH) {
      throw insideTaskFault(
        `start tasks more than ${MAX_TASK_DEPTH} levels below a person's`,
        'Do the work in this session.',
      );
    }
    if (input.continueFrom !== undefined) await this.#requireOwn(input.continueFrom, around);
    const widest = narrowest(around);
    const permissionMode = input.permissionMode ?? widest;
    if (WIDTH[permissionMode] > WIDTH[widest] || input.skipPermissions === true) {
      throw insideTaskFault(
        `start a task in a wider permission mode than its own, ${widest}`,
        `Leave permission_mode out, or give "${widest}".`,
      );
    }
    const [parent] = around;
    return this.#tasks.start({
      ...input,
      permissionMode,
      ...(parent !== undefined && {
        parent: { task_id: parent.task_id, depth, mark: parent.process_mark },
      }),
    });
  }

  get(taskId: string): Promise<TaskRecord> {
    return this.#tasks.get(taskId);
  }

  list(query: TaskQuery): Promise<TaskPage> {
    return this.#tasks.list(query);
  }

  wait(query: TaskWait): Promise<WaitOutcome> {
    return this.#tasks.wait(query);
  }

  /** Throws INSIDE_TASK, and as `TaskService.kill`. */
  async kill(taskId: string, reason: string): Promise<TaskRecord> {
    await this.requireOwn(taskId);
    return this.#tasks.kill(taskId, reason);
  }

  /** Throws INSIDE_TASK, NATIVE_SESSION, and as `TaskService.respond`. */
  async respond(taskId: string, answer: DecisionAnswer): Promise<TaskRecord> {
    if ((await this.#around()) === undefined) {
      await this.#options.requireOutside(await this.#tasks.get(taskId));
      return this.#tasks.respond(taskId, answer);
    }
    throw insideTaskFault(
      'answer decisions',
      'A person answers them, or the client outside of all tasks that follows the task.',
    );
  }

  /** Throws INSIDE_TASK, NATIVE_SESSION, and as `TaskService.message`. */
  async message(taskId: string, message: TaskMessage): Promise<TaskRecord> {
    await this.requireOwn(taskId);
    await this.#options.requireOutside(await this.#tasks.get(taskId));
    return this.#tasks.message(taskId, message);
  }

  output(query: OutputQuery): Promise<OutputPage> {
    return this.#tasks.output(query);
  }

  taskIds(prefix: string): Promise<string[]> {
    return this.#tasks.taskIds(prefix);
  }

  watch(taskId: string): Disposable {
    return this.#tasks.watch(taskId);
  }

  /** Throws INSIDE_TASK unless this server runs outside of tasks, or the task around it started `taskId`. */
  async requireOwn(taskId: string): Promise<void> {
    const around = await this.#around();
    if (around === undefined) return;
    this.#requireStart();
    await this.#requireOwn(taskId, around);
  }

  async #requireOwn(taskId: string, around: readonly TaskRecord[]): Promise<void> {
    const { parent } = await this.#tasks.get(taskId.replace(/^response_/, 'task_'));
    if (parent !== undefined && around.some(({ task_id }) => task_id === parent.task_id)) return;
    throw insideTaskFault('act on tasks that it did not start', 'Leave other tasks to who started them.');
  }

  #requireStart(): void {
    const { allows, isMarked } = this.#options;
    if (allows !== 'start') {
      throw insideTaskFault(
        'start or steer tasks',
        'The user may allow it: "inside_tasks": "start" in the settings.',
      );
    }
    if (!isMarked) {
      throw insideTaskFault(
        'start or steer tasks once its mark was removed from its environment',
        'Start the server without changing CLAUDE_CODE_BRIDGE_MARK.',
      );
    }
  }

  /** The tasks around this server, nearest first; undefined outside of all tasks. */
  async #around(): Promise<readonly TaskRecord[] | undefined> {
    const marks = await this.#options.marks();
    if (marks.length === 0) return undefined;
    const [work, questions] = await Promise.all([
      this.#tasks.list({ status: 'active' }),
      this.#tasks.list({ status: 'active', purpose: 'ask' }),
    ]);
    const running = [...work.tasks, ...questions.tasks];
    return marks.flatMap((mark) => running.find((record) => record.process_mark === mark) ?? []);
  }
}

/** A mode allows more without a question than those below its number. */
const WIDTH: Readonly<Record<PermissionMode, number>> = { cautious: 0, sandboxed: 1, claude: 2, auto: 3 };

/** Of marks that no record carries (another state directory, a process of `spawn`) nothing is known: the narrowest. */
function narrowest(around: readonly TaskRecord[]): PermissionMode {
  const modes = around.map(({ permission_mode }) => permission_mode);
  return modes.sort((one, other) => WIDTH[one] - WIDTH[other])[0] ?? 'cautious';
}
