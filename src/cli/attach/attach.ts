import { ReadStream, WriteStream } from 'node:tty';
import type { Command } from 'commander';
import { BridgeError } from '../../base/errors.js';
import { shownLine } from '../../base/text.js';
import { KeeperClient } from '../../keeper/host/keeper-client.js';
import { requireNotNative } from '../../tasks/task-refusals.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import { addCommand, requireOutsideTasks, type CommandContext } from '../command.js';
import { exitCodeOfEnd, exitCodes } from '../exit-codes.js';
import { shortId } from '../find-task.js';
import { showLog } from '../follow.js';
import { openTasks, type OpenTasks } from '../open-tasks.js';
import { withCommand } from '../terminal-text.js';
import { detachByte } from './attach-bar.js';
import { AttachSession, type AttachEnd, type AttachSessionOptions } from './attach-session.js';

interface AttachFlags {
  readonly detachKey: string;
  readonly readOnly?: boolean;
}

/** Adds `attach`. */
export function addAttach(parent: Command, context: CommandContext): void {
  const words = 'show the terminal of a running task in this one; ctrl-] detaches, the task goes on';
  addCommand(parent, context, 'attach', words, '', 'd93a7d --read-only')
    .argument('[task]', 'the id, its beginning or its last digits; default: the only running task')
    .option('--detach-key <key>', 'the key that detaches', 'ctrl-]')
    .option('--read-only', 'only watch: your keys and the size of your terminal do not reach the session')
    .action(
      context.ending((task: string | undefined, flags: AttachFlags) => runAttach(task, flags, context)),
    );
}

/** Shows a task's terminal in this one until the person detaches or the task ends; resolves with the exit code. `task` as `findTask` takes it. */
async function runAttach(
  task: string | undefined,
  { detachKey: name, readOnly = false }: AttachFlags,
  context: CommandContext,
): Promise<number> {
  const { env, command } = context;
  await requireOutsideTasks(env, 'attach to tasks');
  const detachKey = { name, byte: detachByte(name) };
  const opened = await openTasks(context);
  try {
    const record = await findAny(opened, task);
    if (isFinal(record.status)) return reportEnd(record, context);
    requireNotNative(record, 'shown as a screen');
    requireStarted(record, command);
    const { stdin: input, stdout: output } = process;
    if (!(input instanceof ReadStream) || !(output instanceof WriteStream))
      throw new BridgeError(
        'INVALID_ARGUMENTS',
        'attach needs a terminal on stdin and stdout.',
        `Without a terminal: ${command} tasks follow ${shortId(record.task_id)}`,
      );
    const line = opened.far?.at(record.task_id)?.line;
    const link = await (line?.reopen() ?? KeeperClient.connect(record.task_id, record.socket_path));
    if (link === undefined) return await reportLost(opened, record, context);
    const terminal = { input, output };
    return await show(opened, { link, line, terminal, record, detachKey, readOnly }, context);
  } finally {
    opened.dispose();
  }
}

async function show(
  opened: OpenTasks,
  options: AttachSessionOptions,
  context: CommandContext,
): Promise<number> {
  const { record } = options;
  const { command, look, say } = context;
  const session = new AttachSession(options);
  let end: AttachEnd;
  try {
    await session.start();
    end = await session.ended;
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    const left = await opened.tasks.get(record.task_id);
    // The task ended in the meantime.
    if (isFinal(left.status)) return reportEnd(left, context);
    if (error.code !== 'TASK_NOT_RUNNING') throw error;
    say(`${error.message} Its log follows; Ctrl-C stops following, the task goes on.`);
    const last = await showLog(opened.tasks, record, context, true);
    return isFinal(last.status) ? reportEnd(last, context) : exitCodes.done;
  } finally {
    session.dispose();
  }
  if (end.how === 'ended') return reportEnd({ ...end.record, task_id: record.task_id }, context);
  if (end.how === 'lost') return reportLost(opened, record, context);
  if (end.how === 'unusable') {
    say(`${end.why} ${record.task_id} goes on.`);
    return end.exitCode;
  }
  const again = `${command} attach ${shortId(record.task_id)}`;
  say(withCommand(`Detached from ${record.task_id}; it goes on. Again:`, again, look));
  return exitCodes.done;
}

/** Throws TASK_NOT_RUNNING for a task in the queue, which has no terminal yet. */
function requireStarted({ task_id, status, reason }: TaskRecord, command: string): void {
  if (status !== 'pending') return;
  const id = shortId(task_id);
  throw new BridgeError(
    'TASK_NOT_RUNNING',
    `${task_id} is in the queue and has no terminal yet: ${shownLine(reason)}`,
    `Wait for it: ${command} tasks follow ${id}\nTake it out of the queue: ${command} tasks kill ${id}`,
  );
}

/** The task, or the session that a person started, which is listed apart. */
async function findAny({ find }: OpenTasks, given: string | undefined): Promise<TaskRecord> {
  return find(given).catch(async (error: unknown) => {
    if (!(error instanceof BridgeError) || error.code !== 'TASK_NOT_FOUND' || given === undefined)
      throw error;
    return find(given, true).catch(() => Promise.reject(error));
  });
}

/** The keeper does not answer: a task whose keeper is gone gets its end when it is read. */
async function reportLost(
  { tasks }: OpenTasks,
  { task_id }: TaskRecord,
  context: CommandContext,
): Promise<number> {
  const now = await tasks.get(task_id);
  if (isFinal(now.status)) return reportEnd(now, context);
  const words = `${context.command} tasks show ${shortId(task_id)} shows what is known of the task.`;
  context.say(`The keeper of ${task_id} does not answer. ${words}`);
  return exitCodes.unavailable;
}

function reportEnd(record: TaskRecord, { say }: CommandContext): number {
  const { task_id, status, reason } = record;
  say(`${task_id} ${status}: ${shownLine(reason)}`);
  return exitCodeOfEnd(record);
}
