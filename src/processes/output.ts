import { rmSync } from 'node:fs';
import { Emitter } from '../base/lifecycle.js';
import type { OutputStream } from '../pty/child.js';
import { AppendFile, type Parts } from '../store/append-file.js';
import { segmentPath } from '../store/pages.js';
import type { OutputBytes } from './process-handle.js';

/** A part is never smaller: a piece that a program prints at once fits into it. */
const MIN_PART_BYTES = 256 * 1024;
/** To stay within the bound, the oldest of so many parts is dropped: seven eighths of it are always there. */
const PARTS = 8;

export interface OutputOptions {
  readonly folder: string;
  /** At most so much of each stream is stored on disk; of more the oldest is dropped. */
  readonly maxBytes: number;
  /** Called each time that writing begins to fail. Must not throw. */
  readonly onError: (error: unknown) => void;
}

/**
 * Everything that one process prints, on disk. The name of each file, `<stream>.<offset>`, says at what byte of its stream it begins:
 * what is missing between two of them is known to every reader. A disk that fails costs what was printed meanwhile, and the process
 * goes on.
 */
export class ProcessOutput {
  readonly #options: OutputOptions;
  readonly #files = new Map<OutputStream, AppendFile>();
  readonly #printed = new Emitter<void>();

  constructor(options: OutputOptions) {
    this.#options = options;
  }

  /** Fires each time that something is printed. */
  get onPrinted() {
    return this.#printed.event;
  }

  /** The bytes are in the file when this returns, unless the disk fails. */
  write(stream: OutputStream, bytes: Uint8Array): void {
    (this.#files.get(stream) ?? this.#open(stream)).write(bytes);
    this.#printed.fire();
  }

  get bytes(): OutputBytes {
    return Object.fromEntries([...this.#files].map(([stream, file]) => [stream, file.endBytes]));
  }

  /** Writes out and closes the files; what is printed later opens them again. */
  async close(): Promise<void> {
    await Promise.all([...this.#files.values()].map((file) => file.release()));
  }

  #open(stream: OutputStream): AppendFile {
    const { folder, maxBytes, onError } = this.#options;
    const partBytes = Math.max(MIN_PART_BYTES, Math.floor(maxBytes / PARTS));
    const starts: number[] = [];
    const begin = (offset: number): string => {
      for (
        let [first] = starts;
        first !== undefined && offset - first + partBytes > maxBytes;
        [first] = starts
      ) {
        rmSync(segmentPath(folder, stream, first), { force: true });
        starts.shift();
      }
      starts.push(offset);
      return segmentPath(folder, stream, offset);
    };
    const parts: Parts = { partBytes, last: { path: '', size: 0 }, endsAtGap: true, begin };
    const file = new AppendFile({ parts, keptBytes: 0, onError });
    this.#files.set(stream, file);
    return file;
  }
}
