import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { systemCodeOf } from '../base/errors.js';
import { parseTranscriptLine, type TranscriptEntry } from './transcript-entry.js';

const READ_BYTES = 256 * 1024;
/** A longer line (a pasted file, an image) holds nothing for a log. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** Follows a transcript and returns its entries, each once: those of the main conversation, or `all`. */
export class TranscriptTail {
  readonly #path: string;
  readonly #sinceMs: number;
  readonly #whose: 'main' | 'all';
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);

  /** Older entries than `sinceMs` (milliseconds since the epoch) are left out: a continued session begins with a copy of the other one. */
  constructor(path: string, sinceMs: number, whose: 'main' | 'all' = 'main') {
    this.#path = path;
    this.#sinceMs = sinceMs;
    this.#whose = whose;
  }

  /** Returns the entries added since the last call; none while the file does not exist. */
  async readNew(): Promise<TranscriptEntry[]> {
    let file;
    try {
      file = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
    try {
      if (!(await file.stat()).isFile()) return [];
      const entries: TranscriptEntry[] = [];
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, this.#offset);
        if (bytesRead === 0) return entries;
        this.#offset += bytesRead;
        entries.push(...this.#take(buffer.subarray(0, bytesRead)));
      }
    } finally {
      await file.close();
    }
  }

  #take(chunk: Buffer): TranscriptEntry[] {
    const entries: TranscriptEntry[] = [];
    let data = Buffer.concat([this.#rest, chunk]);
    for (let end = data.indexOf(0x0a); end !== -1; end = data.indexOf(0x0a)) {
      const entry = parseTranscriptLine(data.subarray(0, end).toString('utf8'));
      const isWanted = entry !== undefined && (this.#whose === 'all' || !entry.isSubagent);
      if (isWanted && entry.atMs >= this.#sinceMs) entries.push(entry);
      data = data.subarray(end + 1);
    }
    this.#rest = data.length > MAX_LINE_BYTES ? Buffer.alloc(0) : Buffer.from(data);
    return entries;
  }
}
