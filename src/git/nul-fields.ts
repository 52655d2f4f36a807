import { BridgeError } from '../base/errors.js';

/** A path has at most about 4,096 bytes, and a status line contains one or two of them. */
const MAX_FIELD_BYTES = 65_536;
const NO_BYTES = Buffer.alloc(0);

/** Splits a stream at its NUL bytes; buffers at most one field. */
export class NulFields {
  readonly #take: (field: Buffer) => void;
  #rest: Buffer = NO_BYTES;

  constructor(take: (field: Buffer) => void) {
    this.#take = take;
  }

  /** Throws GIT_FAILED for a field that is too long. */
  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
      this.#take(bytes.subarray(start, end));
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
    if (this.#rest.length > MAX_FIELD_BYTES) throw unreadable('a name that is too long');
  }

  /** Throws GIT_FAILED when the stream ended within a field. */
  end(): void {
    if (this.#rest.length > 0) throw unreadable('an incomplete line');
  }
}

/** The error for output that no version of git's format allows. */
export function unreadable(what: string): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `Cannot parse the output of git: it contains ${what}.`,
    'Inspect the repository in a terminal; the bridge may not support this version of git.',
  );
}
