import type { Clock } from '../../../../src/base/clock.js';
import type { Disposable } from '../../../../src/base/lifecycle.js';
import { frameKinds } from '../../../../src/board/frame-kinds.js';
import { RESET_TERMINAL } from '../../../../src/screen/reset-terminal.js';

/** The editor has no flow control for terminals of extensions: at most one piece is written within an interval, 3 MB in a second. */
const PIECE_BYTES = 64 * 1024;
const INTERVAL_MS = 20;
const FULL_RESET = '\x1bc';
const CLEAR = '\x1b[H\x1b[J';
const BEGIN_UPDATE = '\x1b[?2026h';
const END_UPDATE = '\x1b[?2026l';

export interface PacedOutputOptions {
  readonly clock: Clock;
  readonly write: (text: string) => void;
  /** So many bytes of the subscription were written. */
  readonly written: (bytes: number) => void;
}

interface Piece {
  readonly kind: number;
  readonly bytes: Buffer;
}

/** Writes the frames of a terminal as text, no faster than the editor shows them; a character may be split between frames. */
export class PacedOutput implements Disposable {
  readonly #options: PacedOutputOptions;
  #waiting: Piece[] = [];
  #decoder = newDecoder();
  #shown: number | undefined;
  #writtenBytes = 0;
  #pause: Disposable | undefined;

  constructor(options: PacedOutputOptions) {
    this.#options = options;
  }

  /** The frames of another subscription follow: what waits of the one before is left out. */
  begin(): void {
    this.#waiting = [];
    this.#decoder = newDecoder();
    this.#shown = undefined;
    this.#writtenBytes = 0;
  }

  /** `kind` is one of `frameKinds`. */
  take(kind: number, bytes: Buffer): void {
    this.#waiting.push({ kind, bytes });
    this.#goOn();
  }

  /** Writes a text after all that waits. */
  flush(text: string): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const piece of waiting) this.#write(piece);
    this.#options.write(text);
  }

  dispose(): void {
    this.#pause?.dispose();
    this.#waiting = [];
  }

  #goOn(): void {
    if (this.#pause !== undefined) return;
    for (let bytes = 0; bytes < PIECE_BYTES;) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const piece = this.#cut(next, PIECE_BYTES - bytes);
      bytes += piece.bytes.length;
      this.#write(piece);
    }
    this.#pause = this.#options.clock.after(INTERVAL_MS, () => {
      this.#pause = undefined;
      if (this.#waiting.length > 0) this.#goOn();
    });
  }

  /** Output is cut anywhere; a state or a picture is whole. */
  #cut(piece: Piece, maxBytes: number): Piece {
    if (piece.kind !== frameKinds.output || piece.bytes.length <= maxBytes) return piece;
    this.#waiting.unshift({ kind: piece.kind, bytes: piece.bytes.subarray(maxBytes) });
    return { kind: piece.kind, bytes: piece.bytes.subarray(0, maxBytes) };
  }

  #write({ kind, bytes }: Piece): void {
    const before = this.#shown;
    this.#shown = kind;
    if (kind === frameKinds.output) this.#options.write(this.#decoder.decode(bytes, { stream: true }));
    else {
      this.#decoder = newDecoder();
      const isWhole = kind === frameKinds.state || before !== frameKinds.picture;
      const reset = before === undefined ? FULL_RESET : isWhole ? RESET_TERMINAL + CLEAR : '';
      this.#options.write(`${reset}${BEGIN_UPDATE}${bytes.toString('utf8')}${END_UPDATE}`);
    }
    this.#writtenBytes += bytes.length;
    this.#options.written(this.#writtenBytes);
  }
}

function newDecoder(): TextDecoder {
  return new TextDecoder('utf-8', { ignoreBOM: true });
}
