import { sleep } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { farIdOf } from '../base/ids.js';
import { systemClock } from '../base/system-clock.js';
import { shownLine } from '../base/text.js';
import { LOG_IS_GONE, readLogPage } from '../store/pages.js';
import type { TaskService } from '../tasks/task-service.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import type { CommandContext } from './command.js';
import { TerminalLog } from './terminal-log.js';
import { TerminalQuestions } from './terminal-questions.js';

const PAGE_BYTES = 64 * 1024;
/** Short, since a log of a small size may rotate between two looks. */
const LOOK_INTERVAL_MS = 50;
/** After so many looks without the rest, the task is asked about again: that costs a connection. */
const LOOKS_PER_STATUS = 4;
/** Between two looks at a log on another machine, each of which asks about the task, too. */
const FAR_INTERVAL_MS = 500;
/** Of a log on another machine without a pause: more than a bridge keeps unless its settings say more. A page counts as 4 kB or more. */
const MAX_FAR_CHARS = 32 * 1024 * 1024;
const FEWEST_PAGE_CHARS = 4 * 1024;

export interface FollowLogOptions {
  readonly tasks: Pick<TaskService, 'get' | 'output'>;
  readonly taskId: string;
  /** False when only what is there now is written. */
  readonly follows: boolean;
  readonly log: TerminalLog;
  /** A line below the log. */
  readonly say: (line: string) => void;
  /** Each time all that was there has been written. While it resolves with true, nothing more is. */
  readonly ask: (record: TaskRecord) => Promise<boolean>;
  readonly signal: AbortSignal;
  /** On abort; the record of a task that has ended by then has the rest of its log written. */
  readonly atAbort?: (record: TaskRecord) => Promise<TaskRecord>;
}

/**
 * Writes the log of a task from its beginning and then as it grows, until the task is over and all was written, or until abort. While the line to
 * the machine of the task is cut it waits, and then goes on where it was. Resolves with the last record.
 */
export async function followLog(options: FollowLogOptions): Promise<TaskRecord> {
  const { tasks, taskId, follows, log, ask, signal, atAbort } = options;
  const isFar = farIdOf(taskId) !== undefined;
  const [looks, intervalMs] = isFar ? [1, FAR_INTERVAL_MS] : [LOOKS_PER_STATUS, LOOK_INTERVAL_MS];
  // Asked before the last look: what was written by then is read by it.
  let last = await tasks.get(taskId);
  let cursor = '0';
  let isMissing = true;
  let isLong = false;
  // Page by page, also across the files of a log that rotates; the first line of a file says what is gone before it. False while the line is cut.
  const writeRest = async (stop: AbortSignal): Promise<boolean> => {
    if (follows && last.line !== undefined) return false;
    let room = isFar ? MAX_FAR_CHARS : Infinity;
    while (!stop.aborted && !(isLong = room <= 0)) {
      const page = await (isFar
        ? farPage(tasks, taskId, cursor).catch((error: unknown) => lostPage(error, follows))
        : readLogPage(last.log_file, cursor, PAGE_BYTES));
      if (page === undefined) return false;
      isMissing &&= page.isMissing === true;
      cursor = page.cursor;
      if (page.text === '') break;
      const written = log.write(page.text);
      room -= Math.max(page.text.length, FEWEST_PAGE_CHARS);
      // What another machine sends without end fills no memory here.
      if (isFar) await written;
    }
    return true;
  };
  let said: string | undefined;
  let isHeld = false;
  try {
    while (!signal.aborted) {
      const isLast = !follows || isFinal(last.status);
      const { line } = last;
      if ((line === undefined) !== (said === undefined))
        options.say(
          `${farIdOf(taskId)?.machine ?? ''} ${line === undefined ? 'answers again' : `is ${shownLine(line)}`}.`,
        );
      said = line;
      const isWhole = !(isLast || !isHeld) || (await writeRest(signal));
      if (isLast && isWhole) {
        if (last.started_at !== null && isMissing) await log.write(LOG_IS_GONE);
        if (isLong) options.say(`The log of ${taskId} is longer than 32 MiB: its rest is not shown here.`);
        return last;
      }
      isHeld = await ask(last);
      if (!isHeld) log.working(last.activity, systemClock.now());
      for (let look = 0; look < looks && !signal.aborted; look++) {
        await sleep(systemClock, intervalMs, signal);
        if (!isHeld && !isFar) await writeRest(signal);
      }
      last = await tasks.get(taskId);
    }
    const left = await atAbort?.(last);
    if (left !== undefined && isFinal(left.status)) await writeRest(new AbortController().signal);
    return left ?? last;
  } finally {
    log.end();
  }
}

/** A page of a log on another machine, as `readLogPage` gives those of this one. */
async function farPage(tasks: Pick<TaskService, 'output'>, taskId: string, cursor: string) {
  const page = await tasks.output({ taskId, view: 'log', cursor, maxBytes: PAGE_BYTES });
  const isMissing = page.text === LOG_IS_GONE;
  return { cursor: page.cursor, text: isMissing ? '' : page.text, isMissing };
}

function lostPage(error: unknown, follows: boolean): undefined {
  if (!follows || !(error instanceof BridgeError) || error.code !== 'MACHINE_UNREACHABLE') throw error;
}

/**
 * Prints the log of a task: as it is now, or with `follows` as it grows, until the task ends, Ctrl-C, or nothing reads it; how a question is
 * answered is said. Resolves with the last record.
 */
export async function showLog(
  tasks: TaskService,
  { task_id: taskId }: TaskRecord,
  { look, errorLook, output, command, say }: CommandContext,
  follows: boolean,
): Promise<TaskRecord> {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  const log = new TerminalLog(look, systemClock.now(), output.write);
  const below = log.below(say);
  const questions = new TerminalQuestions({ tasks, say: below, look: errorLook, command });
  const ask = (now: TaskRecord): Promise<boolean> => questions.update(now);
  const signal = AbortSignal.any([stop.signal, output.lost]);
  return followLog({ tasks, taskId, follows, log, say: below, ask, signal });
}
