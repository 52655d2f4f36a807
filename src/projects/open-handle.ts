import { close, closeSync, open, read, readSync } from 'node:fs';
import { promisify } from 'node:util';

const openLater = promisify(open);
const readLater = promisify(read);
const closeLater = promisify(close);

/** What is read here and now of one file, before the thread pool reads the rest: no other call is to wait for more. */
const NEAR_BYTES = 524_288;

/** Something that is open for reading. Whoever opened it closes it. */
export interface OpenHandle {
  readonly fd: number;
  /** As of a FileHandle. */
  read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  /** A second time it does nothing. */
  close(): Promise<void>;
}

/** A descriptor, and how far away is what it stands for. */
export class DescriptorHandle implements OpenHandle {
  readonly fd: number;
  #isNear: boolean;
  #nearBytes = NEAR_BYTES;
  #isClosed = false;

  /** `isNear`: it lies on this machine, where the thread pool takes longer to be woken than the system to answer. */
  constructor(fd: number, isNear: boolean) {
    this.fd = fd;
    this.#isNear = isNear;
  }

  /** Opened by the thread pool, since nobody knows yet where the path leads. Throws system errors. */
  static async open(path: string, flags: number): Promise<DescriptorHandle> {
    return new DescriptorHandle(await openLater(path, flags), false);
  }

  /** It was found to lie on this machine, or is a descriptor by which nothing can be read. */
  becomeNear(): void {
    this.#isNear = true;
  }

  async read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }> {
    if (!this.#isNear || length > this.#nearBytes)
      return readLater(this.fd, buffer, offset, length, position);
    this.#nearBytes -= length;
    return { bytesRead: readSync(this.fd, buffer, offset, length, position) };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#isNear) closeSync(this.fd);
    else await closeLater(this.fd);
  }
}
