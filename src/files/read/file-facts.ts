import type { BigIntStats } from 'node:fs';
import type { Clock } from '../../base/clock.js';
import { fileStamp } from './file-stamp.js';
import type { LineIndex } from './line-index.js';
import type { TextEncoding } from './text-encoding.js';
import { MTIME_TICK_MS } from '../../base/mtime-tick.js';

/** Facts about one version of a file. */
export interface FileFacts {
  readonly encoding: TextEncoding;
  /** Set when the file was read completely. */
  readonly whole?: { readonly lines: number; readonly sha256: string };
  /** Set when a range of lines was requested. */
  readonly index?: LineIndex;
}

/** Enough for the files of one exploration; each takes at most about 40 KB. */
const MAX_FILES = 64;

const NS_PER_MS = 1_000_000n;

/** Caches facts of recently used files while the files are unchanged. */
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

  /** Caches nothing for a file that changed within the last clock tick. */
  set(stats: BigIntStats, facts: FileFacts): void {
    if (this.#clock.now() - Number(stats.ctimeNs / NS_PER_MS) < MTIME_TICK_MS) return;
    const stamp = fileStamp(stats);
    this.#facts.delete(stamp);
    this.#facts.set(stamp, facts);
    const [oldest] = this.#facts.keys();
    if (this.#facts.size > MAX_FILES && oldest !== undefined) this.#facts.delete(oldest);
  }
}
