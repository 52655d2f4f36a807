import { existsSync } from 'node:fs';
import { sleep, type Clock } from '../base/clock.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { Journal } from '../store/journal.js';
import type { StateDir } from '../store/state-dir.js';
import { RecordWriter } from '../tasks/record-writer.js';
import { StorageWatch, type WatchedFile } from '../tasks/storage-watch.js';
import type { TaskRun } from '../tasks/task-run.js';
import { TaskLog } from './task-log.js';
import { TerminalFiles } from './terminal-files.js';

/** While the disk fails at a task's end, how often is looked whether it works again. */
const LOOK_INTERVAL_MS = 500;

export interface TaskFilesOptions {
  readonly stateDir: StateDir;
  readonly taskId: string;
  readonly logFile: string;
  /** Makes the folder of the log again when it was removed. */
  readonly makeLogFolder: () => Promise<unknown>;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Everything that a running task writes: record, journal, log and recording, and the watch over the disk below them. */
export class TaskFiles implements Disposable {
  readonly journal: Journal;
  readonly log: TaskLog;
  readonly terminal: TerminalFiles;
  readonly records: RecordWriter;
  readonly #storage: StorageWatch;
  readonly #clock: Clock;
  #run: TaskRun | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: TaskFilesOptions, journal: Journal, onFault: OnFault) {
    const { stateDir, taskId, logFile, makeLogFolder, maxBytes, clock, logger } = options;
    this.#clock = clock;
    this.journal = journal;
    this.log = new TaskLog({
      path: logFile,
      maxBytes,
      clock,
      makeFolder: makeLogFolder,
      onError: (fault) => onFault.tell('log', fault),
    });
    this.terminal = new TerminalFiles({
      path: stateDir.recordingFile(taskId),
      maxBytes,
      clock,
      onError: (fault) => onFault.tell('recording', fault),
    });
    this.records = new RecordWriter(stateDir.recordFile(taskId), clock, logger);
    this.records.onDidFail((fault) => onFault.tell('record', fault));
    this.#storage = new StorageWatch({
      clock,
      logger,
      files: [
        // First: it makes the folder of the others again.
        { name: 'record', unit: 'bytes', lost: () => 0, write: () => this.#writeRecord(stateDir, taskId) },
        {
          name: 'journal',
          unit: 'events',
          lost: () => journal.lostEvents,
          write: () => this.#writeJournal(stateDir, taskId),
        },
        { name: 'log', unit: 'bytes', lost: () => this.log.lostBytes, write: () => this.log.flush() },
        {
          name: 'recording',
          unit: 'bytes',
          lost: () => this.terminal.lostBytes,
          write: () => this.terminal.write(),
        },
      ],
      onFailed: (words) => this.#run?.setStorage('failing', words, words),
      onBack: (words, isWhole) => this.#run?.setStorage('back', words, isWhole ? null : words),
    });
    onFault.tell = (name, fault) => this.#storage.failed(name, fault);
  }

  /** Throws STATE_UNUSABLE when the journal cannot be written. */
  static async open(options: TaskFilesOptions): Promise<TaskFiles> {
    const { stateDir, taskId, maxBytes, clock } = options;
    const onFault: OnFault = { tell: () => undefined };
    const journal = await Journal.open(stateDir.journalFile(taskId), {
      maxBytes,
      clock,
      onError: (fault) => onFault.tell('journal', fault),
    });
    return new TaskFiles(options, journal, onFault);
  }

  /** From here on a failing disk is told in the task's status, journal and log. */
  follow(run: TaskRun): void {
    this.#run = run;
  }

  /** Writes everything out; what the disk takes is closed, what it does not take waits for `finish`. */
  async flush(): Promise<void> {
    await Promise.all([this.journal.flush(), this.log.flush(), this.terminal.write()]);
    if (!this.#isFailing) await this.#close();
  }

  /** Waits until a failing disk has taken what is still to write, at most `limitMs`, and closes. */
  async finish(limitMs: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + limitMs;
    while (this.#isFailing && this.#clock.monotonicMs() < untilMs) await sleep(this.#clock, LOOK_INTERVAL_MS);
    const lost = this.#storage.giveUp();
    if (lost !== undefined) this.#run?.setStorage('failing', lost, lost);
    // What was said of the disk last is in the record.
    await this.records.retry();
    await this.#close();
  }

  dispose(): void {
    this.#storage.dispose();
    this.records.dispose();
  }

  get #isFailing(): boolean {
    return this.#storage.isFailing || this.records.isFailing || this.journal.isFailing;
  }

  #close(): Promise<void> {
    return (this.#closing ??= (async () => {
      this.#storage.dispose();
      await Promise.all([this.journal.close(), this.log.close(), this.terminal.close()]);
    })());
  }

  async #writeRecord(stateDir: StateDir, taskId: string): ReturnType<WatchedFile['write']> {
    const run = this.#run;
    const isRemoved = this.records.hasWritten && !existsSync(stateDir.recordFile(taskId));
    if (isRemoved && run !== undefined) await this.records.write(run.record);
    else await this.records.retry();
    if (this.records.isFailing) return 'failing';
    return isRemoved ? 'removed' : 'written';
  }

  async #writeJournal(stateDir: StateDir, taskId: string): ReturnType<WatchedFile['write']> {
    const isRemoved = !existsSync(stateDir.journalFile(taskId));
    await this.journal.flush();
    if (this.journal.isFailing) return 'failing';
    return isRemoved ? 'removed' : 'written';
  }
}

interface OnFault {
  tell: (name: string, fault: unknown) => void;
}
