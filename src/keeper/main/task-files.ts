import { existsSync } from 'node:fs';
import { sleep, type Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { AppendFile, rotatedPair } from '../../store/append-file.js';
import { goneNote } from '../../store/pages.js';
import { Journal } from '../../store/journal.js';
import type { StateDir } from '../../store/state-dir.js';
import { TerminalRecording } from '../../store/terminal-recording.js';
import type { TextSink } from '../../tasks/run/task-story.js';
import { RecordWriter } from '../../tasks/record/record-writer.js';
import { StorageWatch, type WatchedFile } from '../../tasks/run/storage-watch.js';
import type { TaskRun } from '../../tasks/run/task-run.js';

/** Time between checks whether a failing disk works again, at the end of a task. */
const CHECK_INTERVAL_MS = 500;
/** While the disk fails, this much of the newest log waits. */
const KEPT_WHILE_FAILING_BYTES = 1024 * 1024;
/** The size of every terminal that a driver opens. */
const SIZE = { columns: 120, rows: 40 };

export interface TaskFilesOptions {
  readonly stateDir: StateDir;
  readonly taskId: string;
  readonly logFile: string;
  /** Where the log lies in a project: once that is gone, the end of the task does not wait for the log. */
  readonly project?: string | undefined;
  /** Creates the folder of the log again when it was removed: in the project, the agent, `git clean` or people may do that. */
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
  readonly #logFile: AppendFile;
  readonly #storage: StorageWatch;
  readonly #clock: Clock;
  readonly #project: string | undefined;
  #screenState: () => string = () => '';
  #run: Pick<TaskRun, 'record' | 'setStorage'> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(options: TaskFilesOptions, journal: Journal) {
    const { stateDir, taskId, logFile, makeLogFolder, maxBytes, clock, logger } = options;
    this.#clock = clock;
    this.#project = options.project;
    this.journal = journal;
    const watched = (name: string) => ({
      clock,
      onError: (error: unknown) => this.#storage.failed(name, error),
      onRemoved: () => this.#storage.removed(),
    });
    this.#logFile = new AppendFile({
      ...watched('log'),
      parts: rotatedPair(logFile, maxBytes),
      keptBytes: KEPT_WHILE_FAILING_BYTES,
      header: goneNote,
      makeFolder: makeLogFolder,
    });
    this.log = { write: (text) => this.#writeLog(text, maxBytes) };
    this.recording = new TerminalRecording({
      ...watched('recording'),
      ...SIZE,
      path: stateDir.recordingFile(taskId),
      maxBytes,
      state: () => this.#screenState(),
    });
    this.records = new RecordWriter(stateDir, clock);
    this.records.onDidFail((error) => this.#storage.failed('record', error));
    const bytesOf = (file: { readonly lostBytes: number; flush(): ReturnType<WatchedFile['write']> }) => ({
      unit: 'bytes' as const,
      lost: () => file.lostBytes,
      write: () => file.flush(),
    });
    this.#storage = new StorageWatch({
      clock,
      logger,
      files: [
        // First, since it creates the folder of the others again.
        { name: 'record', unit: 'bytes', lost: () => 0, write: () => this.#writeRecord(stateDir, taskId) },
        { name: 'journal', unit: 'events', lost: () => journal.lostEvents, write: () => journal.flush() },
        { name: 'log', ...bytesOf(this.#logFile) },
        { name: 'recording', ...bytesOf(this.recording) },
      ],
      onFailed: (words) => this.#run?.setStorage('failing', words, words),
      onBack: (words, isWhole) => this.#run?.setStorage('back', words, isWhole ? null : words),
    });
  }

  /** Throws STATE_UNUSABLE when the journal cannot be written. */
  static async open(options: TaskFilesOptions): Promise<TaskFiles> {
    const { stateDir, taskId, maxBytes, clock } = options;
    const late: { watch?: StorageWatch } = {};
    const journal = await Journal.open(stateDir.journalFile(taskId), {
      maxBytes,
      clock,
      onError: (error) => late.watch?.failed('journal', error),
      onRemoved: () => late.watch?.removed(),
    });
    const files = new TaskFiles(options, journal);
    late.watch = files.#storage;
    return files;
  }

  /** Sets where a new part of the recording gets the current screen from. */
  screenStateFrom(read: () => string): void {
    this.#screenState = read;
  }

  /** From this call on, a failing disk is reported in the task's status, journal and log. */
  follow(run: Pick<TaskRun, 'record' | 'setStorage'>): void {
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
    while (this.#isFailing && this.#clock.monotonicMs() < untilMs) {
      await sleep(this.#clock, CHECK_INTERVAL_MS);
      // The watch ends with the other files, and the end of a task may be all that the disk did not take.
      await this.records.retry();
    }
    await this.#close();
    // The record includes the last report about the disk.
    await this.records.retry();
  }

  dispose(): void {
    this.#storage.dispose();
    this.records.dispose();
  }

  get #isFailing(): boolean {
    if (this.records.isFailing || this.journal.isFailing) return true;
    return this.#storage.isFailing && (this.#project === undefined || existsSync(this.#project));
  }

  #close(): Promise<void> {
    return (this.#closing ??= (async () => {
      await Promise.all([this.journal.close(), this.#logFile.close(), this.recording.close()]);
      // After the last writes, which may have failed, too.
      const lost = this.#storage.giveUp();
      if (lost !== undefined) this.#run?.setStorage('failing', lost, lost);
    })());
  }

  /** A text that is longer than the log goes into it in whole lines, so that its end is there. */
  #writeLog(text: string, maxBytes: number): void {
    if (Buffer.byteLength(text) <= maxBytes) this.#logFile.write(text);
    else for (const line of text.split(/(?<=\n)/)) this.#logFile.write(line);
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
