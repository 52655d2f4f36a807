import { existsSync } from 'node:fs';
import type { Clock } from '../base/clock.js';
import { RotatingFile } from '../store/rotating-file.js';
import type { TextSink } from '../tasks/readable-log.js';

export interface TaskLogOptions {
  readonly path: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Makes the folder again in which the log lies. May throw. */
  readonly makeFolder: () => Promise<unknown>;
  readonly onError: (fault: unknown) => void;
}

/** The log of a task. It lies in the project, where the agent, `git clean` and people may remove it: then it begins anew. */
export class TaskLog implements TextSink {
  readonly #options: TaskLogOptions;
  #file: RotatingFile;
  #faults = 0;
  /** Of files that were removed while they were written. */
  #lostBefore = 0;

  constructor(options: TaskLogOptions) {
    this.#options = options;
    this.#file = this.#open();
  }

  write(text: string): void {
    this.#file.write(text);
  }

  /** Bytes that the disk did not take. */
  get lostBytes(): number {
    return this.#lostBefore + this.#file.lostBytes;
  }

  /** Writes out what waits. */
  async flush(): Promise<'written' | 'removed' | 'failing'> {
    const before = this.#faults;
    try {
      const isGone = !existsSync(this.#options.path);
      if (isGone) await this.#options.makeFolder();
      const file = this.#file;
      await file.flush();
      if (this.#faults > before) return 'failing';
      if (!isGone) return 'written';
      // Flushed before into a file without a name, or anew: only a new writer is sure to have one.
      this.#file = this.#open();
      await file.close();
      this.#lostBefore += file.lostBytes;
      return 'removed';
    } catch (fault) {
      this.#options.onError(fault);
      return 'failing';
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  #open(): RotatingFile {
    const { path, maxBytes, clock, onError } = this.#options;
    return new RotatingFile({
      path,
      maxBytes,
      clock,
      onError: (fault) => {
        this.#faults++;
        onError(fault);
      },
    });
  }
}
