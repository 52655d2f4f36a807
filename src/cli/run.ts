import { fstatSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemClock } from '../base/system-clock.js';
import type { Disposable } from '../base/lifecycle.js';
import { BridgeError } from '../base/errors.js';
import { oneLine } from '../base/text.js';
import { expandHome } from '../config/places.js';
import { isFinal, openDecisions, type PermissionMode, type TaskRecord } from '../tasks/task.js';
import { followLog } from './attach/follow-log.js';
import { checksOf } from './checks-text.js';
import { currentFolder, lookOf, requireOutsideTasks, type CommandContext } from './command-context.js';
import { answerCommand, answerLines } from './decisions.js';
import { exitCodeOfEnd, exitCodes, type ExitCode } from './exit-codes.js';
import { shortId } from './find-task.js';
import { openTasks, type OpenTasks } from './open-tasks.js';
import { taskDetails } from './tasks-text.js';
import { TerminalLog } from './terminal-log.js';
import { TerminalQuestions } from './terminal-questions.js';
import { shortHome, shownTime, withCommand } from './terminal-text.js';

/** Within this time after the first Ctrl-C a second one ends the task. */
const SECOND_PRESS_MS = 2_000;
const MAX_PATH_CHARS = 1_000;
const KILLED_BY_PERSON = 'Ended with Ctrl-C.';

export interface RunFlags {
  /** Of the task; a relative one starts at the current folder. Left out, that of the task to continue, else the current one. */
  readonly path?: string;
  readonly mode?: PermissionMode;
  readonly model?: string;
  readonly timeout?: number;
  readonly maxCost?: number;
  readonly maxTokens?: number;
  /** Each `name: command`, or a command. */
  readonly check?: readonly string[];
  readonly untilMet?: number;
  readonly detach?: boolean;
  readonly queue?: boolean;
  readonly worktree?: boolean;
  /** The id of a task, or a part of it as `findTask` takes it. */
  readonly continue?: string;
}

/** Starts a task in this folder and follows it to its end; resolves with the exit code. Throws as `TaskService.start`. `given`: the prompt; `-` is read from stdin. */
export async function runTask(given: string, flags: RunFlags, context: CommandContext): Promise<ExitCode> {
  const { env, homeDir, command, look, output, say } = context;
  const write = (text: string): void => void output.write(text);
  await requireOutsideTasks(env, 'start tasks from its command line');
  const prompt = given === '-' ? await textOf(process.stdin) : given;
  const opened = await openTasks(context);
  const log = new TerminalLog(look, systemClock.now(), write);
  const sayBelow = (line: string): void => {
    log.clear();
    say(line);
  };
  // From before the start, so that the id of the task is always shown.
  const keys = onInterrupt(sayBelow, output.lost);
  try {
    const record = await start(opened, prompt, flags, context);
    if (flags.detach === true) {
      write(`${record.task_id}\n`);
      return exitCodes.done;
    }
    const where = oneLine(shortHome(record.project_path, homeDir), MAX_PATH_CHARS);
    say(`${record.task_id} ${record.status === 'pending' ? record.reason : `started in ${where}.`}`);
    for (const note of [...(record.notes ?? []), ...(record.worktree?.notes ?? [])]) say(note);
    const last = await followToEnd(opened, record, { command, env, say: sayBelow }, { keys, log });
    if (!isFinal(last.status)) {
      for (const line of leftLines(last, context)) say(line);
      return exitCodes.done;
    }
    const receipt = await opened.receiptOf(last);
    write(`\n${taskDetails(last, { homeDir, command, look, receipt, nowMs: systemClock.now() })}`);
    return exitCodeOfEnd(last);
  } finally {
    keys.dispose();
    opened.dispose();
  }
}

/** Throws INVALID_PROMPT for a folder, which Node reads as if it were empty. */
async function textOf(input: NodeJS.ReadStream & { readonly fd: number }): Promise<string> {
  if (fstatSync(input.fd).isDirectory())
    throw new BridgeError('INVALID_PROMPT', 'stdin is a folder.', 'Give a file or a pipe with the prompt.');
  return text(input);
}

/** What to do with a task that was left. */
function leftLines(last: TaskRecord, { command, look }: CommandContext): string[] {
  const id = shortId(last.task_id);
  return [
    withCommand(`${last.task_id} goes on. Follow it again:`, `${command} tasks follow ${id}`, look),
    withCommand('End it:', `${command} tasks kill ${id}`, look),
    ...openDecisions(last).flatMap((decision) => [
      `It waits for an answer to ${decision.decision_id}, until ${shownTime(decision.expires_at, look, systemClock.now())}; then it is denied.`,
      ...answerLines(decision, answerCommand(last, command)),
    ]),
  ];
}

function folderOf(path: string | undefined, { homeDir, folder }: CommandContext): string {
  if (path === '')
    throw new BridgeError('INVALID_ARGUMENTS', '--path names no folder.', 'Leave it out for this one.');
  return path === undefined ? currentFolder(folder) : resolve(expandHome(path, homeDir));
}

async function start(
  opened: OpenTasks,
  prompt: string,
  flags: RunFlags,
  context: CommandContext,
): Promise<TaskRecord> {
  const before = flags.continue === undefined ? undefined : await opened.find(flags.continue);
  try {
    return await opened.tasks.start({
      prompt,
      path: before !== undefined && flags.path === undefined ? undefined : folderOf(flags.path, context),
      permissionMode: flags.mode,
      model: flags.model,
      timeoutSeconds: flags.timeout,
      maxCostUsd: flags.maxCost,
      maxTokens: flags.maxTokens,
      checks: flags.check && checksOf(flags.check),
      untilMet: flags.untilMet,
      continueFrom: before?.task_id,
      onConflict: flags.queue === true ? 'queue' : flags.worktree === true ? 'always_worktree' : 'error',
    });
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'TASK_ALREADY_RUNNING') throw error;
    const beside = before === undefined ? ', or --worktree to work beside it' : '';
    const answer = error.next.filter((one) => typeof one !== 'string' && one.do === 'answer');
    const hint = `Add --queue to start after it${beside}; ${context.command} attach shows it.`;
    throw new BridgeError(error.code, error.message, [...answer, hint], { cause: error });
  }
}

/** Prints the log and asks the questions of the task. Resolves with the final record, or the last one when the person leaves. */
async function followToEnd(
  { tasks, bell }: OpenTasks,
  { task_id: taskId }: TaskRecord,
  { env, command, say }: Pick<CommandContext, 'command' | 'env' | 'say'>,
  { keys, log }: { readonly keys: InterruptKeys; readonly log: TerminalLog },
): Promise<TaskRecord> {
  const look = lookOf(process.stderr, env);
  const questions = new TerminalQuestions({ tasks, input: process.stdin, say, look, command, bell });
  try {
    return await followLog({
      get: () => tasks.get(taskId),
      follows: true,
      log,
      afterPages: (record) => questions.ask(record, keys.left),
      signal: keys.left,
      atAbort: async (record) => (keys.isKill() ? kill(tasks, taskId) : record),
    });
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
