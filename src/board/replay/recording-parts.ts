import type { FileHandle } from 'node:fs/promises';
import { openRegularFile } from '../../base/files/regular-file.js';
import { parseHead, type RecordedHead } from './recorded-line.js';
import { wholeLines } from './whole-lines.js';

/** One file of a recording. It stays open, so that it can be read after the writer has replaced it. */
export interface RecordingPart {
  /** Later parts have higher numbers. */
  readonly number: number;
  /** Undefined for a first line that is no header. */
  readonly head: RecordedHead | undefined;
  /** Where its first event begins. */
  readonly eventsFrom: number;
  /** It goes on where the part before it in the list ends. */
  readonly follows: boolean;
  readonly file: FileHandle;
}

interface OpenPart extends RecordingPart {
  /** Device and inode: names move on when the writer begins a new part. */
  readonly fileId: string;
}

/** The files of a recording that are there: at most two, the older one first. */
export class RecordingParts {
  readonly #path: string;
  #parts: readonly OpenPart[] = [];
  #gone: OpenPart[] = [];
  #readers = 0;
  #numbers = 0;
  #beganMs: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get list(): readonly RecordingPart[] {
    return this.#parts;
  }

  /** When the first part that was found began, in milliseconds since the epoch. */
  get beganMs(): number | undefined {
    return this.#beganMs;
  }

  /** Finds what was written since the last look. Throws for a file that cannot be read. */
  async look(): Promise<void> {
    // The newer one first: if the writer rotates in between, the same file is found again under the older name.
    const newer = await this.#open(this.#path);
    const older = await this.#open(`${this.#path}.1`);
    const kept: OpenPart[] = [];
    for (const found of [older, newer]) {
      if (found === undefined) continue;
      const known = [...this.#parts, ...kept].find(({ fileId }) => fileId === found.fileId);
      if (known !== undefined) await found.file.close();
      if (known !== undefined && !kept.includes(known)) kept.push(known);
      const part = known === undefined ? await this.#begun(found, kept.length > 0) : undefined;
      if (part !== undefined) kept.push(part);
    }
    this.#gone.push(...this.#parts.filter((part) => !kept.includes(part)));
    this.#parts = kept;
    this.#beganMs ??= kept[0]?.head?.beganMs;
    await this.#closeGone();
  }

  /** Reads; no file is closed meanwhile. */
  async reading<T>(read: () => Promise<T>): Promise<T> {
    this.#readers++;
    try {
      return await read();
    } finally {
      this.#readers--;
      await this.#closeGone();
    }
  }

  async close(): Promise<void> {
    this.#gone.push(...this.#parts);
    this.#parts = [];
    await this.#closeGone();
  }

  async #open(path: string): Promise<Pick<OpenPart, 'file' | 'fileId'> | undefined> {
    const opened = await openRegularFile(path);
    if (opened.state === 'missing') return undefined;
    if (opened.state === 'refused') throw new Error(`${path}: ${opened.why}`);
    const { dev, ino } = await opened.file.stat();
    return { file: opened.file, fileId: `${dev}:${ino}` };
  }

  /** Undefined for a file whose first line is still being written. */
  async #begun(found: Pick<OpenPart, 'file' | 'fileId'>, follows: boolean): Promise<OpenPart | undefined> {
    for await (const [first] of wholeLines(found.file, 0)) {
      if (first === undefined) continue;
      const head = parseHead(first.text);
      return { ...found, number: ++this.#numbers, head, eventsFrom: first.end, follows };
    }
    await found.file.close();
    return undefined;
  }

  async #closeGone(): Promise<void> {
    if (this.#readers > 0) return;
    for (const part of this.#gone.splice(0)) await part.file.close();
  }
}
