import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { approvalModes } from '../approvals/modes.js';
import { BridgeError } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { systemClock } from '../base/system-clock.js';
import { MAX_ROUNDS } from '../checks/brief.js';
import { oneLine, shownLine } from '../base/text.js';
import { expandHome } from '../config/places.js';
import { taskTimeoutSeconds, type StartTask, type TaskService } from '../tasks/task-service.js';
import { isFinal, openDecisions, type PermissionMode, type TaskRecord } from '../tasks/task.js';
import {
  addCommand,
  cents,
  currentFolder,
  requireOutsideTasks,
  wholeNumber,
  type CommandContext,
} from './command.js';
import { checksOf } from './checks-text.js';
import { answerCommand, answerLines } from './decisions.js';
import { exitCodeOfEnd, exitCodes, type ExitCode } from './exit-codes.js';
import { shortId } from './find-task.js';
import { followLog } from './follow.js';
import { noMachine } from './machines/place.js';
import { openTasks, type OpenTasks } from './open-tasks.js';
import { shownProject } from './tasks-table.js';
import { taskDetails } from './tasks-text.js';
import { TerminalLog } from './terminal-log.js';
import { TerminalQuestions } from './terminal-questions.js';
import { shownTime, withCommand } from './terminal-text.js';

/** The most that the option can say. */
const MAX_TOKENS = 999_999_999;
/** Within this time after the first Ctrl-C a second one ends the task. */
const SECOND_PRESS_MS = 2_000;
const MAX_PATH_CHARS = 1_000;
const KILLED_BY_PERSON = 'Ended with Ctrl-C.';

interface RunFlags {
  /** Of the task; a relative one starts at the current folder. Left out, that of the task to continue, else the current one. */
  readonly path?: string;
  /** The machine of a new task; that of the task to continue when left out. */
  readonly machine?: string;
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

/** Adds `run`. */
export function addRun(parent: Command, context: CommandContext): void {
  const { min, max } = taskTimeoutSeconds;
  const modes = new Option('--mode <mode>', 'permission mode; default: default_permission_mode');
  const before = new Option(
    '--continue <task>',
    'go on with the session of a task that has ended, in its folder: its id, its beginning or its last digits',
  );
  const worktree = new Option(
    '--worktree',
    'work in a git worktree of its own, made from the last commit: what is not committed is not in it',
  );
  addCommand(
    parent,
    context,
    'run',
    'start a task in this folder, show its log and ask what it asks; Ctrl-C leaves it running, twice ends it',
    '"node test.js fails. Find out why and fix it."',
    '--mode cautious --worktree "Update the dependencies."',
    '--continue d93a7d "Now write a test for it."',
    '- < prompt.md',
  )
    .argument('<prompt...>', 'what Claude Code is to do; - reads it from stdin')
    .option(
      '--path <folder>',
      'the folder that the task works in; default: that of --continue, else this one',
    )
    .option('--machine <name>', 'a machine of your settings to work on; --path is then a folder there')
    .addOption(modes.choices(approvalModes))
    .option('--model <model>', 'model, such as opus')
    .option(
      '--timeout <seconds>',
      `time limit, from ${min} to ${max}; default: default_timeout_seconds`,
      wholeNumber('--timeout', min, max),
    )
    .option('--max-cost <usd>', 'end the task when it has cost so many US dollars', cents('--max-cost'))
    .option(
      '--max-tokens <count>',
      'end the task when it has used so many tokens',
      wholeNumber('--max-tokens', 1, MAX_TOKENS),
    )
    .option(
      '--check <check>',
      'run this when the agent says that it is done: "command" or "name: command"; may be repeated',
      (text, before: readonly string[] = []) => [...before, text],
    )
    .option(
      '--until-met <times>',
      'how often at most checks that are not met go back to the session',
      wholeNumber('--until-met', 0, MAX_ROUNDS),
    )
    .addOption(before.conflicts('worktree'))
    .option('--detach', 'print the id of the task and return')
    .option('--queue', 'if another task works in this folder, start after it')
    .addOption(worktree.conflicts('queue'))
    .action(context.ending((words: string[], flags: RunFlags) => runTask(words.join(' '), flags, context)));
}

/** Starts a task in this folder and follows it to its end; resolves with the exit code. Throws as `TaskService.start`. `given`: the prompt; `-` is read from stdin. */
async function runTask(given: string, flags: RunFlags, context: CommandContext): Promise<ExitCode> {
  const { homeDir, command, look, errorLook, output, say } = context;
  const write = (words: string): void => void output.write(words);
  await requireOutsideTasks(context.env, 'start tasks from its command line');
  const prompt = given === '-' ? await text(process.stdin) : given;
  const opened = await openTasks(context);
  const { tasks, bell } = opened;
  const log = new TerminalLog(look, systemClock.now(), output.write);
  const sayBelow = log.below(say);
  // From before the start, so that the id of the task is always shown.
  const keys = onInterrupt(sayBelow, output.lost);
  try {
    const record = await start(opened, prompt, flags, context);
    const { task_id: taskId } = record;
    if (flags.detach === true) {
      write(`${taskId}\n`);
      return exitCodes.done;
    }
    const where = oneLine(shownProject(record, homeDir), MAX_PATH_CHARS);
    say(`${taskId} ${record.status === 'pending' ? shownLine(record.reason) : `started in ${where}.`}`);
    for (const note of [...(record.notes ?? []), ...(record.worktree?.notes ?? [])]) say(shownLine(note));
    const asking = { tasks, input: process.stdin, say: sayBelow, look: errorLook, command, bell };
    const questions = new TerminalQuestions(asking);
    const last = await followLog({
      ...{ tasks, taskId, follows: true, log, say: sayBelow, signal: keys.left },
      ask: (now) => questions.update(now),
      atAbort: async (now) => (keys.isKill() ? kill(tasks, taskId) : now),
    }).finally(() => questions.dispose());
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

function folderOf(
  path: string | undefined,
  machine: string | undefined,
  { homeDir, folder }: CommandContext,
): string {
  if (machine !== undefined) {
    if (path !== undefined && /^[/~]/.test(path)) return path;
    const message = `--machine ${machine} needs the folder on that machine.`;
    const next = 'Add --path with an absolute path there, such as --path /srv/work/app.';
    throw new BridgeError('INVALID_ARGUMENTS', message, next);
  }
  if (path === '')
    throw new BridgeError('INVALID_ARGUMENTS', '--path names no folder.', 'Leave it out for this one.');
  return path === undefined ? currentFolder(folder) : resolve(expandHome(path, homeDir));
}

async function start(
  { tasks, far, find }: OpenTasks,
  prompt: string,
  flags: RunFlags,
  context: CommandContext,
): Promise<TaskRecord> {
  const before = flags.continue === undefined ? undefined : await find(flags.continue);
  const machine = flags.machine ?? (before && farIdOf(before.task_id)?.machine);
  if (before !== undefined && machine !== farIdOf(before.task_id)?.machine)
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${before.task_id} cannot go on on another machine.`,
      'Leave out --machine: it goes on where it was.',
    );
  if (machine !== undefined && far === undefined) throw noMachine(machine, [], context.command);
  try {
    const input: StartTask = {
      ...{ prompt, machine },
      path:
        before !== undefined && flags.path === undefined ? undefined : folderOf(flags.path, machine, context),
      permissionMode: flags.mode,
      model: flags.model,
      timeoutSeconds: flags.timeout,
      maxCostUsd: flags.maxCost,
      maxTokens: flags.maxTokens,
      checks: flags.check && checksOf(flags.check),
      untilMet: flags.untilMet,
      continueFrom: before?.task_id,
      onConflict: flags.queue === true ? 'queue' : flags.worktree === true ? 'always_worktree' : 'error',
    };
    return await tasks.start(input);
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'TASK_ALREADY_RUNNING') throw error;
    const beside = before === undefined ? ', or --worktree to work beside it' : '';
    const answer = error.next.filter((one) => typeof one !== 'string' && one.do === 'answer');
    const hint = `Add --queue to start after it${beside}; ${context.command} attach shows it.`;
    throw new BridgeError(error.code, error.message, [...answer, hint], { cause: error });
  }
}

/** Ctrl-C leaves, and twice within two seconds also ends the task. Who reads stdout no longer has left, too. */
function onInterrupt(say: (line: string) => void, lost: AbortSignal) {
  const left = new AbortController();
  let leaving: { dispose(): void } | undefined;
  let isKill = false;
  const onSignal = (): void => {
    isKill = leaving !== undefined;
    if (isKill) left.abort();
    else leaving = systemClock.after(SECOND_PRESS_MS, () => left.abort());
    say(
      isKill
        ? 'Ending the task.'
        : '\nThe task goes on without this command. Ctrl-C again within 2 s ends it.',
    );
  };
  process.on('SIGINT', onSignal);
  return {
    /** Aborted when the person leaves. */
    left: AbortSignal.any([left.signal, lost]),
    /** Whether the task is to end. */
    isKill: () => isKill,
    dispose: () => {
      leaving?.dispose();
      process.removeListener('SIGINT', onSignal);
    },
  };
}

async function kill(tasks: TaskService, taskId: string): Promise<TaskRecord> {
  try {
    return await tasks.kill(taskId, KILLED_BY_PERSON);
  } catch (error) {
    // It ended on its own in the meantime.
    if (error instanceof BridgeError && error.code === 'TASK_NOT_RUNNING') return tasks.get(taskId);
    throw error;
  }
}
