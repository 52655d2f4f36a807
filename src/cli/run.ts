import { fstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemClock } from '../base/system-clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import { expandHome } from '../config/home-path.js';
import { isFinal, openDecisions, type PermissionMode, type TaskRecord } from '../tasks/task.js';
import { followLog } from './attach/follow-log.js';
import { answerLines } from './decision-text.js';
import { exitCodeOfEnd, exitCodes, type ExitCode } from './exit-codes.js';
import { openTasks, type OpenTasks, type TaskCommandOptions } from './open-tasks.js';
import { requireOutsideTasks } from './require-outside-tasks.js';
import { shortHome, taskDetails } from './tasks-text.js';
import { TerminalQuestions } from './terminal-questions.js';

/** Within this time after the first Ctrl-C a second one ends the task. */
const SECOND_PRESS_MS = 2_000;
const MAX_PATH_CHARS = 1_000;
const KILLED_BY_PERSON = 'Ended with Ctrl-C.';

export interface RunOptions extends TaskCommandOptions {
  /** `-` is read from stdin. */
  readonly prompt: string;
  /** Of the task; a relative one starts at `cwd`, which it is when left out. */
  readonly path?: string | undefined;
  readonly mode?: PermissionMode | undefined;
  readonly model?: string | undefined;
  readonly timeout?: number | undefined;
  readonly maxCost?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly detach?: boolean | undefined;
  readonly queue?: boolean | undefined;
  readonly worktree?: boolean | undefined;
  /** The id of a task, or the start of one. */
  readonly continue?: string | undefined;
  readonly cwd: string;
  readonly input: NodeJS.ReadStream & { readonly fd: number };
  /** To stdout. */
  readonly write: (text: string) => void;
  /** Aborted when stdout takes no more: nobody reads it. */
  readonly lost: AbortSignal;
  /** A line on stderr. */
  readonly say: (line: string) => void;
}

/** Starts a task in this folder and follows it to its end; resolves with the exit code. Throws as `TaskService.start`. */
export async function runTask(options: RunOptions): Promise<ExitCode> {
  const { env, input, homeDir, command, write, say } = options;
  await requireOutsideTasks(env, 'start tasks from its command line');
  const prompt = options.prompt === '-' ? await textOf(input) : options.prompt;
  const opened = await openTasks(options);
  // From before the start, so that the id of the task is always shown.
  const keys = onInterrupt(say, options.lost);
  try {
    const record = await start(opened, prompt, options);
    if (options.detach === true) {
      write(`${record.task_id}\n`);
      return exitCodes.done;
    }
    const where = oneLine(shortHome(record.project_path, homeDir), MAX_PATH_CHARS);
    say(`${record.task_id} ${record.status === 'pending' ? record.reason : `started in ${where}.`}`);
    const last = await followToEnd(opened, record, keys, options);
    if (!isFinal(last.status)) {
      say(`${last.task_id} goes on. Follow it again: ${command} tasks follow ${last.task_id}`);
      say(`End it: ${command} tasks kill ${last.task_id}`);
      for (const decision of openDecisions(last)) {
        say(
          `It waits for an answer to ${decision.decision_id}, until ${decision.expires_at}; then it is denied.`,
        );
        for (const line of answerLines(decision, `${command} tasks answer ${last.task_id}`)) say(line);
      }
      return exitCodes.done;
    }
    const receipt = await opened.receiptOf(last);
    write(`\n${taskDetails(last, { homeDir, command, receipt, nowMs: systemClock.now() })}`);
    return exitCodeOfEnd(last.status);
  } finally {
    keys.dispose();
    opened.dispose();
  }
}

/** Throws INVALID_PROMPT for a folder, which Node reads as if it were empty. */
async function textOf(input: RunOptions['input']): Promise<string> {
  if (fstatSync(input.fd).isDirectory())
    throw new BridgeError('INVALID_PROMPT', 'stdin is a folder.', 'Give a file or a pipe with the prompt.');
  return text(input);
}

function folderOf({ path, cwd, homeDir }: RunOptions): string {
  if (path === '')
    throw new BridgeError('INVALID_ARGUMENTS', '--path names no folder.', 'Leave it out for this one.');
  return path === undefined ? cwd : resolve(cwd, expandHome(path, homeDir));
}

async function start(opened: OpenTasks, prompt: string, options: RunOptions): Promise<TaskRecord> {
  const before = options.continue === undefined ? undefined : await opened.find(options.continue);
  try {
    return await opened.tasks.start({
      prompt,
      path: folderOf(options),
      permissionMode: options.mode,
      model: options.model,
      timeoutSeconds: options.timeout,
      maxCostUsd: options.maxCost,
      maxTokens: options.maxTokens,
      continueFrom: before?.task_id,
      onConflict: options.queue === true ? 'queue' : options.worktree === true ? 'worktree' : 'error',
    });
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'TASK_ALREADY_RUNNING') throw error;
    const hint = `Add --queue to start after it, or --worktree to work beside it; ${options.command} attach shows it.`;
    throw new BridgeError(error.code, error.message, hint, { cause: error });
  }
}

/** Prints the log and asks the questions of the task. Resolves with the final record, or the last one when the person leaves. */
async function followToEnd(
  { tasks, bell }: OpenTasks,
  started: TaskRecord,
  keys: InterruptKeys,
  options: RunOptions,
): Promise<TaskRecord> {
  const { write, say, input, command } = options;
  const taskId = started.task_id;
  const questions = new TerminalQuestions({ tasks, input, say, command, bell, clock: systemClock });
  let last = started;
  try {
    await followLog({
      clock: systemClock,
      path: started.log_file,
      isOver: async () => isFinal((last = await tasks.get(taskId)).status),
      hasBegun: () => last.started_at !== null,
      afterPages: () => questions.ask(last, keys.left),
      write,
      signal: keys.left,
      atAbort: async () => {
        if (keys.isKill()) last = await kill(tasks, taskId);
        return keys.isKill();
      },
    });
    return last;
  } finally {
    questions.dispose();
  }
}

interface InterruptKeys extends Disposable {
  /** Aborted when the person leaves. */
  readonly left: AbortSignal;
  /** Whether the task is to end. */
  isKill(): boolean;
}

/** Ctrl-C leaves, and twice within two seconds also ends the task. Who reads stdout no longer has left, too. */
function onInterrupt(say: (line: string) => void, lost: AbortSignal): InterruptKeys {
  const left = new AbortController();
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
    left: AbortSignal.any([left.signal, lost]),
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
