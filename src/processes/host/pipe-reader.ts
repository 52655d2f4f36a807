import { readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { systemCodeOf } from '../../base/errors.js';

/** A pipe between processes holds about 200 KB. */
const SCRATCH_BYTES = 256 * 1024;
/** A piece this long may have more behind it: the event loop reads 64 KB at most. */
const LONG_PIECE_BYTES = 16 * 1024;
/** What is read before the event loop has its turn again: a millisecond's work. */
const TURN_BYTES = 1024 * 1024;

/**
 * Reads on where the event loop stopped: what can be read without waiting is read at once, into memory that is used again.
 * A program that prints without end is read with a third of the steps this way. One for all processes of a backend, since what is
 * read is handed on before the next read.
 */
export class PipeReader {
  #scratch: Buffer | undefined;

  /**
   * Hands on `piece`, which came from `stream`, and what is ready behind it. `take` says false to stop: it got its bytes,
   * and takes no more for now. They are valid until it returns.
   */
  read(stream: Readable, piece: Buffer, take: (bytes: Buffer) => boolean): void {
    if (!take(piece) || piece.length < LONG_PIECE_BYTES) return;
    const fd = descriptorOf(stream);
    if (fd === undefined) return;
    this.#scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES);
    for (let left = TURN_BYTES; left > 0;) {
      const length = readReady(fd, this.#scratch);
      if (length === 0 || !take(this.#scratch.subarray(0, length))) return;
      left -= length;
    }
  }
}

/** The descriptor of an open pipe of which nothing waits in the stream's own buffer. */
function descriptorOf(stream: Readable): number | undefined {
  if (stream.readableLength > 0 || stream.destroyed) return undefined;
  const handle: unknown = Reflect.get(stream, '_handle');
  if (typeof handle !== 'object' || handle === null) return undefined;
  const fd: unknown = Reflect.get(handle, 'fd');
  return typeof fd === 'number' && fd >= 0 ? fd : undefined;
}

/** 0 when nothing is ready, or the other side is closed: the event loop's own read finds that again. */
function readReady(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into, 0, into.length, null);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === 'EAGAIN' || code === 'EINTR' || code === 'ECONNRESET') return 0;
    throw thrown;
  }
}
