import { text } from 'node:stream/consumers';
import { systemClock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { isFinal, type PermissionMode, type TaskRecord } from '../tasks/task.js';
import { followLog } from './attach/follow-log.js';
import { exitCodeOfEnd, exitCodes, type ExitCode } from './exit-codes.js';
import { openTasks, type OpenTasks, type TaskCommandOptions } from './open-tasks.js';
import { requireOutsideTasks } from './require-outside-tasks.js';
import { logPages } from './tasks.js';
import { shortHome, taskDetails } from './tasks-text.js';
import { TerminalQuestions } from './terminal-questions.js';

/** Within this time after the first Ctrl-C a second one ends the task. */
const SECOND_PRESS_MS = 2_000;
const KILLED_BY_PERSON = 'Ended with Ctrl-C.';

export interface RunOptions extends TaskCommandOptions {
  /** `-` is read from stdin. */
  readonly prompt: string;
  readonly mode?: PermissionMode | undefined;
  readonly model?: string | undefined;
  readonly timeout?: number | undefined;
  readonly detach?: boolean | undefined;
  readonly queue?: boolean | undefined;
  readonly worktree?: boolean | undefined;
  readonly cwd: string;
  readonly input: NodeJS.ReadStream;
  /** To stdout. */
  readonly write: (text: string) => void;
  /** A line on stderr. */
  readonly say: (line: string) => void;
}

/** Starts a task in this folder and follows it to its end; resolves with the exit code. Throws as `TaskService.start`. */
export async function runTask(options: RunOptions): Promise<ExitCode> {
  const { env, input, homeDir, command, write, say } = options;
  await requireOutsideTasks(env, 'start tasks from its command line');
  const prompt = options.prompt === '-' ? await text(input) : options.prompt;
  const opened = await openTasks(options);
  try {
    const record = await start(opened, prompt, options);
    if (options.detach === true) {
      write(`${record.task_id}\n`);
      return exitCodes.done;
    }
    const where = shortHome(record.project_path, homeDir);
    say(`${record.task_id} ${record.status === 'pending' ? record.reason : `started in ${where}.`}`);
    const last = await followToEnd(opened, record, options);
    if (!isFinal(last.status)) {
      say(`${last.task_id} goes on. Follow it again: ${command} tasks follow ${last.task_id}`);
      say(`End it: ${command} tasks kill ${last.task_id}`);
      return exitCodes.done;
    }
    const receipt = await opened.receiptOf(last);
    write(`\n${taskDetails(last, { homeDir, command, receipt, nowMs: systemClock.now() })}`);
    return exitCodeOfEnd(last.status);
  } finally {
    opened.dispose();
  }
}

async function start({ tasks }: OpenTasks, prompt: string, options: RunOptions): Promise<TaskRecord> {
  try {
    return await tasks.start({
      prompt,
      path: options.cwd,
      permissionMode: options.mode,
      model: options.model,
      timeoutSeconds: options.timeout,
      onConflict: options.queue === true ? 'queue' : options.worktree === true ? 'worktree' : 'error',
    });
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'TASK_ALREADY_RUNNING') throw error;
    const hint = `Add --queue to start after it, or --worktree to work beside it; ${options.command} attach shows it.`;
    throw new BridgeError(error.code, error.message, hint, { cause: error });
  }
}

/** Prints the log and asks the questions of the task. Resolves with the final record, or the last one when the person leaves. */
async function followToEnd(opened: OpenTasks, started: TaskRecord, options: RunOptions): Promise<TaskRecord> {
  const { tasks } = opened;
  const { write, say, input, command } = options;
  const taskId = started.task_id;
  const left = new AbortController();
  const questions = new TerminalQuestions({ tasks, input, say, command, clock: systemClock });
  const keys = onInterrupt(left, say);
  let last = started;
  try {
    await followLog({
      clock: systemClock,
      page: logPages(tasks, taskId),
      isOver: async () => isFinal((last = await tasks.get(taskId)).status),
      afterPages: () => questions.ask(last, left.signal),
      write,
      signal: left.signal,
    });
    return keys.isKill() ? await kill(tasks, taskId) : last;
  } finally {
    keys.dispose();
    questions.dispose();
  }
}

/** Ctrl-C leaves, and twice within two seconds also ends the task. */
function onInterrupt(
  left: AbortController,
  say: (line: string) => void,
): { isKill(): boolean; dispose(): void } {
  let leaving: { dispose(): void } | undefined;
  let isKill = false;
  const onSignal = (): void => {
    if (leaving !== undefined) {
      isKill = true;
      say('Ending the task.');
      left.abort();
      return;
    }
    say('\nThe task goes on without this command. Ctrl-C again within 2 s ends it.');
    leaving = systemClock.after(SECOND_PRESS_MS, () => left.abort());
  };
  process.on('SIGINT', onSignal);
  return {
    isKill: () => isKill,
    dispose: () => {
      leaving?.dispose();
      process.removeListener('SIGINT', onSignal);
    },
  };
}

async function kill(tasks: OpenTasks['tasks'], taskId: string): Promise<TaskRecord> {
  try {
    return await tasks.kill(taskId, KILLED_BY_PERSON);
  } catch (error) {
    // It ended on its own in the meantime.
    if (error instanceof BridgeError && error.code === 'TASK_NOT_RUNNING') return tasks.get(taskId);
    throw error;
  }
}
