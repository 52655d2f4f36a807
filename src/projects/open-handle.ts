import { close, closeSync, open, read, readSync } from 'node:fs';
import { promisify } from 'node:util';

const openAsync = promisify(open);
const readAsync = promisify(read);
const closeAsync = promisify(close);

/** Bytes of one file that are read synchronously before the thread pool takes over, so that other calls do not wait long. */
const SYNC_BYTES = 524_288;

/** An open file or directory. The code that opened it must close it. */
export interface OpenHandle {
  readonly fd: number;
  /** Like `FileHandle.read`. */
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  /** Calling it again does nothing. */
  close(): Promise<void>;
}

/** A descriptor that is read synchronously when its file is on a local file system. */
export class DescriptorHandle implements OpenHandle {
  readonly fd: number;
  #isLocal: boolean;
  #syncBytesLeft = SYNC_BYTES;
  #isClosed = false;

  /** `isLocal` is true for a local file system, where a synchronous call returns faster than the thread pool wakes up. */
  constructor(fd: number, isLocal: boolean) {
    this.fd = fd;
    this.#isLocal = isLocal;
  }

  /** Opens in the thread pool, since the path may be on a slow file system. Throws system errors. */
  static async open(path: string, flags: number): Promise<DescriptorHandle> {
    return new DescriptorHandle(await openAsync(path, flags), false);
  }

  /** To be called when the file is on a local file system, or the descriptor cannot be used for reading. */
  markLocal(): void {
    this.#isLocal = true;
  }

  async read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }> {
    if (!this.#isLocal || length > this.#syncBytesLeft)
      return readAsync(this.fd, buffer, offset, length, position);
    this.#syncBytesLeft -= length;
    return { bytesRead: readSync(this.fd, buffer, offset, length, position) };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isLocal) closeSync(this.fd);
    else await closeAsync(this.fd);
  }
}
