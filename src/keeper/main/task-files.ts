import { existsSync } from 'node:fs';
import { sleep, type Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { allWaits } from '../../pty/child.js';
import { AppendFile } from '../../store/append-file.js';
import { goneNote } from '../../store/gone-note.js';
import { Journal } from '../../store/journal.js';
import { RotatedPair } from '../../store/rotated-pair.js';
import type { StateDir } from '../../store/state-dir.js';
import { TerminalRecording } from '../../store/terminal-recording.js';
import type { TextSink } from '../../tasks/run/readable-log.js';
import { RecordWriter } from '../../tasks/record/record-writer.js';
import { StorageWatch, type WatchedFile } from '../../tasks/run/storage-watch.js';
import type { TaskRun } from '../../tasks/run/task-run.js';

/** Time between checks whether a failing disk works again, at the end of a task. */
const CHECK_INTERVAL_MS = 500;
/** While the disk fails, this much of the newest log is buffered, and writing is tried again after RETRY_MS. */
const KEPT_WHILE_FAILING_BYTES = 1024 * 1024;
const RETRY_MS = 1_000;
/** The size of every terminal that a driver opens. */
const COLUMNS = 120;
const ROWS = 40;

/** What is reported of a failing disk. */
type FollowedRun = Pick<TaskRun, 'record' | 'setStorage'>;

export interface TaskFilesOptions {
  readonly stateDir: StateDir;
  readonly taskId: string;
  readonly logFile: string;
  /** Creates the folder of the log again when it was removed. */
  readonly makeLogFolder: () => Promise<unknown>;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The files of a running task: record, journal, log and recording, with the StorageWatch that reports a failing disk. */
export class TaskFiles implements Disposable {
  readonly journal: Journal;
  readonly log: TextSink;
  readonly recording: TerminalRecording;
  readonly records: RecordWriter;
  readonly #storage: StorageWatch;
  readonly #clock: Clock;
  readonly #logFile: AppendFile;
  /** Resolves when the disk has caught up with the log. */
  #logWait: Promise<void> | undefined;
  #screenState: () => string = () => '';
  #run: FollowedRun | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: TaskFilesOptions, journal: Journal, errors: FileErrors) {
    const { stateDir, taskId, logFile, makeLogFolder, maxBytes, clock, logger } = options;
    this.#clock = clock;
    this.journal = journal;
    this.#logFile = new AppendFile({
      parts: new RotatedPair(logFile, maxBytes),
      keptBytes: KEPT_WHILE_FAILING_BYTES,
      retryMs: RETRY_MS,
      cutsLongEntries: true,
      header: goneNote,
      clock,
      // The folder is in the project, where the agent, `git clean` or people may remove it.
      makeFolder: makeLogFolder,
      onError: (error) => errors.failed('log', error),
      onRemoved: () => errors.removed(),
    });
    this.log = { write: (text) => void (this.#logWait = this.#logFile.write(text) ?? this.#logWait) };
    this.recording = new TerminalRecording({
      path: stateDir.recordingFile(taskId),
      maxBytes,
      columns: COLUMNS,
      rows: ROWS,
      clock,
      state: () => this.#screenState(),
      onError: (error) => errors.failed('recording', error),
      onRemoved: () => errors.removed(),
    });
    this.records = new RecordWriter(stateDir, clock);
    this.records.onDidFail((error) => errors.failed('record', error));
    this.#storage = new StorageWatch({
      clock,
      logger,
      files: [
        // First, since it creates the folder of the others again.
        { name: 'record', unit: 'bytes', lost: () => 0, write: () => this.#writeRecord(stateDir, taskId) },
        {
          name: 'journal',
          unit: 'events',
          lost: () => journal.lostEvents,
          write: () => journal.flush(),
        },
        {
          name: 'log',
          unit: 'bytes',
          lost: () => this.#logFile.lostBytes,
          write: () => this.#logFile.flush(),
        },
        {
          name: 'recording',
          unit: 'bytes',
          lost: () => this.recording.lostBytes,
          write: () => this.recording.flush(),
        },
      ],
      onFailed: (words) => this.#run?.setStorage('failing', words, words),
      onBack: (words, isWhole) => this.#run?.setStorage('back', words, isWhole ? null : words),
    });
    errors.failed = (name, error) => this.#storage.failed(name, error);
    errors.removed = () => this.#storage.removed();
  }

  /** Throws STATE_UNUSABLE when the journal cannot be written. */
  static async open(options: TaskFilesOptions): Promise<TaskFiles> {
    const { stateDir, taskId, maxBytes, clock } = options;
    const errors: FileErrors = { failed: () => undefined, removed: () => undefined };
    const journal = await Journal.open(stateDir.journalFile(taskId), {
      maxBytes,
      clock,
      onError: (error) => errors.failed('journal', error),
      onRemoved: () => errors.removed(),
    });
    return new TaskFiles(options, journal, errors);
  }

  /** Sets where a new part of the recording gets the current screen from. */
  screenStateFrom(read: () => string): void {
    this.#screenState = read;
  }

  /** Records output. The terminal is not read until the result resolves: recording and log have caught up (backpressure). */
  output(bytes: Uint8Array): Promise<void> | undefined {
    const wait = allWaits([this.recording.output(bytes), this.#logWait]);
    this.#logWait = undefined;
    return wait;
  }

  /** From this call on, a failing disk is reported in the task's status, journal and log. */
  follow(run: FollowedRun): void {
    this.#run = run;
  }

  /** Writes everything to disk, then closes the files; while the disk fails, they stay open until `finish`. */
  async flush(): Promise<void> {
    await Promise.all([this.journal.flush(), this.#logFile.flush(), this.recording.flush()]);
    if (!this.#isFailing) await this.#close();
  }

  /** Waits at most `limitMs` until a failing disk has accepted the rest, then closes the files. */
  async finish(limitMs: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + limitMs;
    while (this.#isFailing && this.#clock.monotonicMs() < untilMs)
      await sleep(this.#clock, CHECK_INTERVAL_MS);
    const lost = this.#storage.giveUp();
    if (lost !== undefined) this.#run?.setStorage('failing', lost, lost);
    // The record includes the last report about the disk.
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
      await Promise.all([this.journal.close(), this.#logFile.close(), this.recording.close()]);
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
}

/** Where errors of the files go; a file is open before StorageWatch exists. */
interface FileErrors {
  failed: (name: string, error: unknown) => void;
  removed: () => void;
}
