import type { BigIntStats } from 'node:fs';
import type { Clock } from '../../base/clock.js';
import { fileStamp } from './file-stamp.js';
import type { LineIndex } from './line-index.js';
import type { TextEncoding } from './text-encoding.js';
import { MTIME_TICK_MS } from '../../base/mtime-tick.js';

/** What was learned of one state of one file. */
export interface FileFacts {
  readonly encoding: TextEncoding;
  /** Of files that were read whole. */
  readonly whole?: { readonly lines: number; readonly sha256: string };
  /** Of files of which lines were asked for. */
  readonly index?: LineIndex;
}

/** Enough for the files of one exploration; each is at most some 40 KB. */
const MAX_FILES = 64;

const NS_PER_MS = 1_000_000n;

/** Facts of the files used last, each for as long as its file stays as it is. */
export class FileFactsCache {
  readonly #clock: Clock;
  readonly #facts = new Map<string, FileFacts>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(stats: BigIntStats): FileFacts | undefined {
    const stamp = fileStamp(stats);
    const facts = this.#facts.get(stamp);
    if (facts === undefined) return undefined;
    this.#facts.delete(stamp);
    this.#facts.set(stamp, facts);
    return facts;
  }

  /** Remembers nothing of a file that was changed just now. */
  set(stats: BigIntStats, facts: FileFacts): void {
    if (this.#clock.now() - Number(stats.ctimeNs / NS_PER_MS) < MTIME_TICK_MS) return;
    const stamp = fileStamp(stats);
    this.#facts.delete(stamp);
    this.#facts.set(stamp, facts);
    const [oldest] = this.#facts.keys();
    if (this.#facts.size > MAX_FILES && oldest !== undefined) this.#facts.delete(oldest);
  }
}
