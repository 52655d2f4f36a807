import { Emitter } from '../../base/event.js';
import type { OutputSink, OutputStream } from '../../pty/child.js';
import { OutputFile, type OutputFileOptions } from './output-file.js';

/** Bytes that a process printed, by stream. */
export type OutputBytes = Readonly<Partial<Record<OutputStream, number>>>;

/** Everything that one process prints, on disk. */
export class ProcessOutput implements OutputSink {
  readonly #options: Omit<OutputFileOptions, 'stream'>;
  readonly #files = new Map<OutputStream, OutputFile>();
  readonly #printed = new Emitter<{ readonly stream: OutputStream; readonly bytes: Uint8Array }>();

  constructor(options: Omit<OutputFileOptions, 'stream'>) {
    this.#options = options;
  }

  /** What is printed, as it comes; the bytes are valid until the listener returns. */
  get onPrinted() {
    return this.#printed.event;
  }

  write(stream: OutputStream, bytes: Uint8Array): Promise<void> | undefined {
    let file = this.#files.get(stream);
    if (file === undefined) {
      file = new OutputFile({ ...this.#options, stream });
      this.#files.set(stream, file);
    }
    const wait = file.write(bytes);
    this.#printed.fire({ stream, bytes });
    return wait;
  }

  get bytes(): OutputBytes {
    return Object.fromEntries([...this.#files].map(([stream, file]) => [stream, file.endBytes]));
  }

  get totalBytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.endBytes, 0);
  }

  get lostBytes(): number {
    return [...this.#files.values()].reduce((sum, file) => sum + file.lostBytes, 0);
  }

  /** Resolves when everything printed so far can be read from the files. */
  async written(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.written()));
  }

  /** Writes out and closes the files; what is printed later opens them again. */
  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.close()));
  }
}
