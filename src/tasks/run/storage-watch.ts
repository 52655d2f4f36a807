// Pure.
import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { oneLine } from '../../base/text.js';

/** How often a disk that failed is tried again. */
const RETRY_MS = 1_000;
/** How often a healthy one is checked: files that were removed under their writer make no error. */
const LOOK_MS = 5_000;
const MAX_FAULT_CHARS = 300;

/** What the words about a disk begin with as long as it fails. */
const FAILING = 'failing since';

/** Whether the disk of a task fails now, by the words in its record. */
export function isFailingNow(storage: string | null): boolean {
  return storage?.startsWith(`${FAILING} `) ?? false;
}

/** A file that a task writes to all the time. */
export interface WatchedFile {
  /** As people know it: `journal`, `log`, `recording`, `record`. */
  readonly name: string;
  /** Writes out what waits, into a new file when the old one was removed. Must not throw. */
  readonly write: () => Promise<'written' | 'removed' | 'failing'>;
  /** What could not be stored until now, counted in `unit`. */
  readonly lost: () => number;
  readonly unit: 'bytes' | 'events';
}

export interface StorageWatchOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly files: readonly WatchedFile[];
  /** The disk fails: `words` say since when and why. */
  readonly onFailed: (words: string) => void;
  /** It writes again: `words` say from when to when it did not, and what is missing. `isWhole` when nothing is. */
  readonly onBack: (words: string, isWhole: boolean) => void;
}

/** Watches whether the disk takes what a task writes, and tries again until it does. */
export class StorageWatch implements Disposable {
  readonly #options: StorageWatchOptions;
  #timer: Disposable | undefined;
  #failingSince: string | undefined;
  #lostBefore: readonly number[];
  #isDisposed = false;

  constructor(options: StorageWatchOptions) {
    this.#options = options;
    this.#lostBefore = options.files.map((file) => file.lost());
    this.#arm(LOOK_MS);
  }

  get isFailing(): boolean {
    return this.#failingSince !== undefined;
  }

  /** A write to a file failed. Told once, until all files are written again. */
  failed(name: string, error: unknown): void {
    if (this.#failingSince !== undefined || this.#isDisposed) return;
    this.#failingSince = this.#now();
    const why = `the ${name} could not be written: ${oneLine(messageOf(error), MAX_FAULT_CHARS)}`;
    this.#options.logger.error('the disk does not take what the task writes', { why });
    this.#arm(RETRY_MS);
    this.#options.onFailed(`${FAILING} ${this.#failingSince}: ${why}`);
  }

  /** A file was removed while it was in use: it is reported now, not at the next interval. */
  removed(): void {
    if (this.#failingSince === undefined && !this.#isDisposed) this.#arm(0);
  }

  /** Ends the watch. When the disk still fails, the words that stay about it; else undefined. */
  giveUp(): string | undefined {
    this.dispose();
    if (this.#failingSince === undefined) return undefined;
    return `the disk failed from ${this.#failingSince} to the end of the task, until ${this.#now()}: what is missing was not written`;
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  #arm(delayMs: number): void {
    this.#timer?.dispose();
    this.#timer = this.#options.clock.after(delayMs, () => void this.#check());
  }

  async #check(): Promise<void> {
    const { files, logger, onBack } = this.#options;
    const results: Awaited<ReturnType<WatchedFile['write']>>[] = [];
    // One after the other: the first makes the folder of the others when it is gone.
    for (const file of files) results.push(await file.write());
    if (this.#isDisposed) return;
    const removed = files.filter((_, index) => results[index] === 'removed').map((file) => file.name);
    const isFailing = results.includes('failing');
    if (!isFailing && (removed.length > 0 || this.#failingSince !== undefined)) {
      const lost = files.map((file, index) => file.lost() - (this.#lostBefore[index] ?? 0));
      const missing = files.flatMap((file, index) =>
        (lost[index] ?? 0) > 0 ? [`${lost[index]} ${file.unit} of the ${file.name}`] : [],
      );
      const since = this.#failingSince;
      const words = [
        ...(since === undefined ? [] : [`the disk failed from ${since} to ${this.#now()}`]),
        ...(removed.length === 0 ? [] : [`removed while in use and started again: ${removed.join(', ')}`]),
        missing.length === 0 ? 'nothing else is missing' : `missing: ${missing.join(', ')}`,
      ].join('; ');
      this.#failingSince = undefined;
      this.#lostBefore = files.map((file) => file.lost());
      logger.info('the disk takes what the task writes again', { words });
      onBack(words, missing.length === 0 && removed.length === 0);
    }
    this.#arm(isFailing ? RETRY_MS : LOOK_MS);
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}
