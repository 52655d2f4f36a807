import { sleep } from '../base/clock.js';
import { systemClock } from '../base/system-clock.js';
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

export interface FollowLogOptions {
  readonly tasks: Pick<TaskService, 'get'>;
  readonly taskId: string;
  /** False when only what is there now is written. */
  readonly follows: boolean;
  readonly log: TerminalLog;
  /** Each time all that was there has been written. While it resolves with true, nothing more is. */
  readonly ask: (record: TaskRecord) => Promise<boolean>;
  readonly signal: AbortSignal;
  /** On abort; the record of a task that has ended by then has the rest of its log written. */
  readonly atAbort?: (record: TaskRecord) => Promise<TaskRecord>;
}

/** Writes the log of a task from its beginning and then as it grows, until the task is over and all was written, or until abort. Resolves with the last record. */
export async function followLog(options: FollowLogOptions): Promise<TaskRecord> {
  const { tasks, taskId, follows, log, ask, signal, atAbort } = options;
  // Asked before the last look: what was written by then is read by it.
  let last = await tasks.get(taskId);
  let cursor = '0';
  let isMissing = true;
  // Page by page, also across the files of a log that rotates; the first line of a file says what is gone before it.
  const writeRest = async (stop: AbortSignal): Promise<void> => {
    while (!stop.aborted) {
      const page = await readLogPage(last.log_file, cursor, PAGE_BYTES);
      isMissing &&= page.isMissing === true;
      cursor = page.cursor;
      if (page.text === '') return;
      log.write(page.text);
    }
  };
  let isHeld = false;
  try {
    while (!signal.aborted) {
      const isLast = !follows || isFinal(last.status);
      if (isLast || !isHeld) await writeRest(signal);
      if (isLast && last.started_at !== null && isMissing) log.write(LOG_IS_GONE);
      if (isLast) return last;
      isHeld = await ask(last);
      if (!isHeld) log.working(last.activity, systemClock.now());
      for (let looks = 0; looks < LOOKS_PER_STATUS && !signal.aborted; looks++) {
        await sleep(systemClock, LOOK_INTERVAL_MS, signal);
        if (!isHeld) await writeRest(signal);
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
  const log = new TerminalLog(look, systemClock.now(), (text) => void output.write(text));
  const below = log.below(say);
  const questions = new TerminalQuestions({ tasks, say: below, look: errorLook, command });
  const ask = (now: TaskRecord): Promise<boolean> => questions.update(now);
  return followLog({ tasks, taskId, follows, log, ask, signal: AbortSignal.any([stop.signal, output.lost]) });
}
