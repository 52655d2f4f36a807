import { StringDecoder } from 'node:string_decoder';
import { GONE_NOTE_BYTES, readGoneNote } from '../store/gone-note.js';
import { openParts, type Part } from './task-output.js';

/**
 * Reads a log once, from its beginning and then as it grows. The file that is being read stays open, so that its end is read also
 * when the log has rotated. What rotated away unread is counted; of what was read, nothing is said.
 */
export class LogStream {
  readonly #path: string;
  #part: Part | undefined;
  #isFound = false;
  #offset = 0;
  /** The place in everything ever logged; undefined where that is not known. */
  #position: number | undefined = 0;
  #decoder = new StringDecoder('utf8');

  constructor(path: string) {
    this.#path = path;
  }

  /** The next text, of at most about `maxBytes`; `''` when there is nothing new. */
  async read(maxBytes: number): Promise<string> {
    const buffer = Buffer.alloc(maxBytes);
    for (;;) {
      const text = await this.#readPart(buffer);
      if (text !== '') return text;
      const said = await this.#nextPart(buffer);
      if (said === undefined) return '';
      if (said !== '') return said;
    }
  }

  /** Whether a file was found so far. */
  get isFound(): boolean {
    return this.#isFound;
  }

  async close(): Promise<void> {
    await this.#part?.close();
    this.#part = undefined;
  }

  async #readPart(buffer: Buffer): Promise<string> {
    for (;;) {
      const bytes = (await this.#part?.read(buffer, this.#offset)) ?? 0;
      if (bytes === 0) return '';
      this.#offset += bytes;
      if (this.#position !== undefined) this.#position += bytes;
      const text = this.#decoder.write(buffer.subarray(0, bytes));
      if (text !== '') return text;
    }
  }

  /** Goes on to the file that follows, and gives what is to be said or was left; undefined when there is none yet. */
  async #nextPart(buffer: Buffer): Promise<string | undefined> {
    const parts = await openParts(this.#path);
    const at = parts.findIndex(({ id }) => id === this.#part?.id);
    const after = parts[at + 1];
    // Its first line comes with its first bytes.
    const next = after?.size === 0 && after === parts.at(-1) ? undefined : after;
    // Written before the log rotated, and after it was read here.
    const rest = next === undefined ? '' : await this.#readPart(buffer);
    if (next === undefined || rest !== '') {
      await Promise.all(parts.map((part) => part.close()));
      return next === undefined ? undefined : rest;
    }
    const said = at >= 0 ? '' : await this.#missed(parts);
    await Promise.all(parts.filter((part) => part !== next).map((part) => part.close()));
    await this.close();
    this.#part = next;
    this.#isFound = true;
    const { line } = readGoneNote(await headOf(next));
    this.#offset = line.length;
    if (this.#position !== undefined) this.#position += line.length;
    return `${this.#decoder.end()}${said}`;
  }

  /** What to say of the bytes between the last file and the first of `parts`. */
  async #missed(parts: readonly Part[]): Promise<string> {
    const [first, second] = parts;
    if (first === undefined) return '';
    const begins = second === undefined ? undefined : readGoneNote(await headOf(second)).goneBytes;
    const firstNote = readGoneNote(await headOf(first));
    const before = this.#position;
    // One file alone: the first, or somebody removed the one before it, and perhaps the one that was read.
    this.#position = begins ?? (firstNote.line === '' && this.#part === undefined ? 0 : undefined);
    if (begins === undefined && firstNote.line === '') return '';
    if (before !== undefined && this.#position !== undefined && this.#position <= before) return '';
    const missed = this.#position === undefined || before === undefined ? 0 : this.#position - before;
    // Of a text that came at once the log itself says it.
    const head = (await headOf(first)).slice(firstNote.line.length);
    if (missed > 0 && head.startsWith(`[${missed} bytes left out: `)) return '';
    return `[The log was rotated: ${missed === 0 ? 'a part is' : `${missed} bytes are`} missing here]\n`;
  }
}

async function headOf(part: Part): Promise<string> {
  const head = Buffer.alloc(2 * GONE_NOTE_BYTES);
  return head.toString('utf8', 0, await part.read(head, 0));
}
