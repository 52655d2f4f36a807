import { ReadStream, WriteStream } from 'node:tty';
import { systemClock } from '../../base/system-clock.js';
import { BridgeError } from '../../base/errors.js';
import { loadConfig } from '../../config/load-config.js';
import { stateDirectory } from '../../config/state-directory.js';
import { KeeperClient } from '../../keeper/host/keeper-client.js';
import { requireOutsideTasks } from '../require-outside-tasks.js';
import { openStateDir, type StateDir } from '../../store/state-dir.js';
import { readRecordFile } from '../../tasks/record/record-file.js';
import { requireNotNative } from '../../tasks/native-session.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import { DEFAULT_DETACH_KEY, detachByte } from './attach-keys.js';
import { AttachSession, type AttachEnd } from './attach-session.js';
import { exitCodeOfEnd, exitCodes } from '../exit-codes.js';
import { findTask, wordsFor } from '../find-task.js';
import { followLog } from './follow-log.js';
import { UserTerminal } from './user-terminal.js';

export interface AttachOptions {
  /** An id, the beginning of one, or undefined for the only task that runs. */
  readonly task: string | undefined;
  readonly detachKey?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly configPath?: string | undefined;
  /** How a person runs this program, for words about what to do next. */
  readonly command: string;
  readonly keeperEntry: string;
  readonly env: NodeJS.ProcessEnv;
  readonly homeDir: string;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
}

/** Shows a task's terminal in this one until the person detaches or the task ends; resolves with the exit code. */
export async function runAttach(options: AttachOptions): Promise<number> {
  await requireOutsideTasks(options.env, 'attach to tasks');
  const name = options.detachKey ?? DEFAULT_DETACH_KEY;
  const detachKey = { name, byte: detachByte(name) };
  const { config } = await loadConfig({
    env: options.env,
    cwd: process.cwd(),
    homeDir: options.homeDir,
    configPath: options.configPath,
  });
  const stateDir = await openStateDir({ path: stateDirectory(config, options) });
  const read = reader(stateDir);
  const shelf = { ids: () => stateDir.listTaskIds(), read };
  const record = await findTask(shelf, options.task, wordsFor(options.command)).catch((error: unknown) =>
    listedSession(error, options),
  );
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  if (isFinal(record.status)) {
    say(endWords(record));
    return exitCodeOfEnd(record.status);
  }
  requireNotNative(record, 'shown as a screen');
  const { input, output } = options;
  if (!(input instanceof ReadStream) || !(output instanceof WriteStream)) {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'attach needs a terminal on stdin and stdout.',
      `Without a terminal: ${options.command} tasks follow ${record.task_id}`,
    );
  }
  const link = await KeeperClient.connect(record.task_id, record.socket_path);
  if (link === undefined) return reportLost(await read(record.task_id), record, options.command, say);
  const terminal = new UserTerminal({ input, output });
  const session = new AttachSession({
    link,
    terminal,
    record,
    clock: systemClock,
    detachKey,
    readOnly: options.readOnly ?? false,
  });
  let end: AttachEnd;
  try {
    await session.start();
    end = await session.ended;
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    const left = await read(record.task_id);
    terminal.dispose();
    // The task ended in the meantime.
    if (left !== undefined && isFinal(left.status)) return reportLost(left, record, options.command, say);
    if (error.code !== 'TASK_NOT_RUNNING') throw error;
    say(`${error.message} Its log follows; Ctrl-C stops following, the task goes on.`);
    return await followInstead(record, read, say);
  } finally {
    session.dispose();
    terminal.dispose();
    link.dispose();
  }
  switch (end.how) {
    case 'detached':
      say(`Detached from ${record.task_id}; it goes on. Again: ${options.command} attach ${record.task_id}`);
      return exitCodes.done;
    case 'unusable':
      say(`${end.why} ${record.task_id} goes on.`);
      return end.exitCode;
    case 'ended':
      say(endWords(end.record));
      return exitCodeOfEnd(end.record.status);
    case 'lost':
      return reportLost(await read(record.task_id), record, options.command, say);
  }
}

/** The session without a task that `options` names. Throws `error` when there is none. */
async function listedSession(error: unknown, options: AttachOptions): Promise<TaskRecord> {
  const { task } = options;
  if (!(error instanceof BridgeError) || error.code !== 'TASK_NOT_FOUND' || task === undefined) throw error;
  const { openTasks } = await import('../open-tasks.js');
  const opened = await openTasks({ ...options, native: true });
  try {
    return await opened.find(task);
  } catch {
    throw error;
  } finally {
    opened.dispose();
  }
}

async function followInstead(
  record: TaskRecord,
  read: (taskId: string) => Promise<TaskRecord | undefined>,
  say: (text: string) => void,
): Promise<number> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  let last = record;
  await followLog({
    clock: systemClock,
    path: record.log_file,
    isOver: async () => isFinal((last = (await read(record.task_id)) ?? last).status),
    hasBegun: () => last.started_at !== null,
    write: (text) => void process.stdout.write(text),
    signal: stop.signal,
  });
  if (!isFinal(last.status)) return exitCodes.done;
  say(endWords(last));
  return exitCodeOfEnd(last.status);
}

function reader(stateDir: StateDir): (taskId: string) => Promise<TaskRecord | undefined> {
  return async (taskId) => {
    const file = await readRecordFile(stateDir, taskId);
    return file.state === 'ok' ? file.record : undefined;
  };
}

function reportLost(
  now: TaskRecord | undefined,
  before: TaskRecord,
  command: string,
  say: (text: string) => void,
): number {
  if (now !== undefined && isFinal(now.status)) {
    say(endWords(now));
    return exitCodeOfEnd(now.status);
  }
  say(
    `The keeper of ${before.task_id} is gone. ${command} tasks show ${before.task_id} shows how the task ended.`,
  );
  return exitCodes.unavailable;
}

function endWords({ task_id, status, reason }: TaskRecord): string {
  return `${task_id} ${status}: ${reason}`;
}
