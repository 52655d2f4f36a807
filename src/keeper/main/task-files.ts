import { existsSync } from 'node:fs';
import { sleep, type Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { allWaits } from '../../pty/child.js';
import { AppendFile } from '../../store/append-file.js';
import { Journal } from '../../store/journal.js';
import { RotatedPair } from '../../store/rotated-pair.js';
import type { StateDir } from '../../store/state-dir.js';
import { TerminalRecording } from '../../store/terminal-recording.js';
import type { TextSink } from '../../tasks/run/readable-log.js';
import { RecordWriter } from '../../tasks/record/record-writer.js';
import { StorageWatch, type WatchedFile } from '../../tasks/run/storage-watch.js';
import type { TaskRun } from '../../tasks/run/task-run.js';

/** While the disk fails at a task's end, how often is checked whether it works again. */
const CHECK_INTERVAL_MS = 500;
/** While the disk fails, the newest part of the log, up to this size, is buffered, and writing is tried again so often. */
const KEPT_WHILE_FAILING_BYTES = 1024 * 1024;
const RETRY_MS = 1_000;
/** The size of every terminal that a driver opens. */
const COLUMNS = 120;
const ROWS = 40;

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
  readonly log: TextSink;
  readonly recording: TerminalRecording;
  readonly records: RecordWriter;
  readonly #storage: StorageWatch;
  readonly #clock: Clock;
  readonly #logFile: AppendFile;
  /** Resolves when the disk has caught up with the log. */
  #logWait: Promise<void> | undefined;
  #screenState: () => string = () => '';
  #run: TaskRun | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: TaskFilesOptions, journal: Journal, faults: Faults) {
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
      // It is in the project, where the agent, `git clean` and people may remove it.
      makeFolder: makeLogFolder,
      onError: (error) => faults.failed('log', error),
      onRemoved: () => faults.removed(),
    });
    this.log = { write: (text) => void (this.#logWait = this.#logFile.write(text) ?? this.#logWait) };
    this.recording = new TerminalRecording({
      path: stateDir.recordingFile(taskId),
      maxBytes,
      columns: COLUMNS,
      rows: ROWS,
      clock,
      state: () => this.#screenState(),
      onError: (error) => faults.failed('recording', error),
      onRemoved: () => faults.removed(),
    });
    this.records = new RecordWriter(stateDir.recordFile(taskId), clock, logger);
    this.records.onDidFail((error) => faults.failed('record', error));
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
    faults.failed = (name, error) => this.#storage.failed(name, error);
    faults.removed = () => this.#storage.removed();
  }

  /** Throws STATE_UNUSABLE when the journal cannot be written. */
  static async open(options: TaskFilesOptions): Promise<TaskFiles> {
    const { stateDir, taskId, maxBytes, clock } = options;
    const faults: Faults = { failed: () => undefined, removed: () => undefined };
    const journal = await Journal.open(stateDir.journalFile(taskId), {
      maxBytes,
      clock,
      onError: (error) => faults.failed('journal', error),
      onRemoved: () => faults.removed(),
    });
    return new TaskFiles(options, journal, faults);
  }

  /** Where a recording that begins in the middle of the session gets what is shown then. */
  screenStateFrom(read: () => string): void {
    this.#screenState = read;
  }

  /** Records output. The terminal is not read while the disk is behind, with the recording or with the log. */
  output(bytes: Uint8Array): Promise<void> | undefined {
    const wait = allWaits([this.recording.output(bytes), this.#logWait]);
    this.#logWait = undefined;
    return wait;
  }

  /** From here on a failing disk is reported in the task's status, journal and log. */
  follow(run: TaskRun): void {
    this.#run = run;
  }

  /** Writes everything out; what the disk takes is closed, what it does not take waits for `finish`. */
  async flush(): Promise<void> {
    await Promise.all([this.journal.flush(), this.#logFile.flush(), this.recording.flush()]);
    if (!this.#isFailing) await this.#close();
  }

  /** Waits until a failing disk has taken what is still to write, at most `limitMs`, and closes. */
  async finish(limitMs: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + limitMs;
    while (this.#isFailing && this.#clock.monotonicMs() < untilMs)
      await sleep(this.#clock, CHECK_INTERVAL_MS);
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

/** The first line of a log file when older files are gone. */
function goneNote(goneBytes: number): string {
  return goneBytes === 0 ? '' : `[The log was rotated: its first ${goneBytes} bytes are gone]\n`;
}

/** Where errors of the files go: there are files before there is a watch over them. */
interface Faults {
  failed: (name: string, fault: unknown) => void;
  removed: () => void;
}
