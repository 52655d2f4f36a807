import { ReadStream, WriteStream } from 'node:tty';
import { BridgeError } from '../../base/errors.js';
import { KeeperClient } from '../../keeper/host/keeper-client.js';
import { requireNotNative } from '../../tasks/task-refusals.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import { requireOutsideTasks, type CommandContext } from '../command-context.js';
import { exitCodeOfEnd, exitCodes } from '../exit-codes.js';
import { shortId } from '../find-task.js';
import { openTasks, type OpenTasks } from '../open-tasks.js';
import { showLog } from '../tasks.js';
import { withCommand } from '../terminal-text.js';
import { detachByte } from './attach-bar.js';
import { AttachSession, type AttachEnd, type AttachSessionOptions } from './attach-session.js';
import { UserTerminal } from './user-terminal.js';

export interface AttachFlags {
  readonly detachKey: string;
  readonly readOnly?: boolean;
}

/** Shows a task's terminal in this one until the person detaches or the task ends; resolves with the exit code. `task` as `findTask` takes it. */
export async function runAttach(
  task: string | undefined,
  { detachKey: name, readOnly = false }: AttachFlags,
  context: CommandContext,
): Promise<number> {
  const { env, command } = context;
  await requireOutsideTasks(env, 'attach to tasks');
  const detachKey = { name, byte: detachByte(name) };
  const opened = await openTasks(context);
  try {
    const record = await opened.find(task).catch((error: unknown) => listedSession(error, task, context));
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
    const link = await KeeperClient.connect(record.task_id, record.socket_path);
    if (link === undefined) return await reportLost(opened, record, context);
    const terminal = new UserTerminal(input, output);
    return await show(opened, { link, terminal, record, detachKey, readOnly }, context);
  } finally {
    opened.dispose();
  }
}

async function show(
  opened: OpenTasks,
  options: AttachSessionOptions,
  context: CommandContext,
): Promise<number> {
  const { link, terminal, record } = options;
  const { command, look, say } = context;
  const session = new AttachSession(options);
  let end: AttachEnd;
  try {
    await session.start();
    end = await session.ended;
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    terminal.dispose();
    const left = await opened.tasks.get(record.task_id);
    // The task ended in the meantime.
    if (isFinal(left.status)) return reportEnd(left, context);
    if (error.code !== 'TASK_NOT_RUNNING') throw error;
    say(`${error.message} Its log follows; Ctrl-C stops following, the task goes on.`);
    const last = await showLog(opened, record, context, { follows: true });
    return isFinal(last.status) ? reportEnd(last, context) : exitCodes.done;
  } finally {
    session.dispose();
    terminal.dispose();
    link.dispose();
  }
  if (end.how === 'ended') return reportEnd(end.record, context);
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
    `${task_id} is in the queue and has no terminal yet: ${reason}`,
    `Wait for it: ${command} tasks follow ${id}\nTake it out of the queue: ${command} tasks kill ${id}`,
  );
}

/** The session without a task that the person named. Throws `error` when there is none. */
async function listedSession(
  error: unknown,
  task: string | undefined,
  context: CommandContext,
): Promise<TaskRecord> {
  if (!(error instanceof BridgeError) || error.code !== 'TASK_NOT_FOUND' || task === undefined) throw error;
  const opened = await openTasks({ ...context, native: true });
  const found = await opened.find(task).catch(() => undefined);
  opened.dispose();
  if (found === undefined) throw error;
  return found;
}

/** The keeper does not answer: a task whose keeper is gone gets its end when it is read. */
async function reportLost(
  { tasks }: OpenTasks,
  { task_id }: TaskRecord,
  context: CommandContext,
): Promise<number> {
  const now = await tasks.get(task_id);
  if (isFinal(now.status)) return reportEnd(now, context);
  const show = `${context.command} tasks show ${shortId(task_id)}`;
  context.say(`The keeper of ${task_id} does not answer. ${show} shows what is known of the task.`);
  return exitCodes.unavailable;
}

function reportEnd(record: TaskRecord, { say }: CommandContext): number {
  const { task_id, status, reason } = record;
  say(`${task_id} ${status}: ${reason}`);
  return exitCodeOfEnd(record);
}
