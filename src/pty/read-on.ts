import { readSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';
import type { RawPty } from './load-node-pty.js';
import type { TerminalStream } from './terminal-stream.js';

/** A piece this long may have more behind it: one read gives at most 4 KB, on macOS 1 KB. */
const LONG_PIECE_BYTES = 1_000;
const READ_BYTES = 4 * 1024;
/** What is told at once: enough to spread what each telling costs, so little that other work soon has its turn. */
const BATCH_BYTES = 64 * 1024;

/**
 * Reads on where the event loop stopped reading: that reads one piece of 4 KB at most, then asks the kernel whether there
 * is more. A program that prints without end is read in a tenth of the steps this way.
 */
export class ReadOn {
  readonly #pty: RawPty;
  readonly #stream: TerminalStream;
  #batch: Buffer | undefined;

  constructor(pty: RawPty, stream: TerminalStream) {
    this.#pty = pty;
    this.#stream = stream;
  }

  /** `piece` and what can be read behind it without waiting. The bytes are valid until the next call. */
  from(piece: Buffer): Buffer {
    if (piece.length < LONG_PIECE_BYTES || piece.length > BATCH_BYTES - READ_BYTES) return piece;
    if (!this.#stream.isEmpty) return piece;
    // Most terminals never flood: they do without the memory.
    const batch = (this.#batch ??= Buffer.allocUnsafeSlow(BATCH_BYTES));
    let length = piece.length;
    for (let read = -1; read !== 0 && length <= BATCH_BYTES - READ_BYTES; length += read)
      read = readReady(this.#pty.fd, batch, length);
    if (length === piece.length) return piece;
    piece.copy(batch);
    return batch.subarray(0, length);
  }
}

/** 0 when nothing is ready, or the other side is closed: the event loop's own read finds that again. */
function readReady(fd: number, batch: Buffer, at: number): number {
  try {
    return readSync(fd, batch, at, batch.length - at, null);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'EAGAIN' || code === 'EIO' || code === 'EINTR') return 0;
    throw thrown;
  }
}
