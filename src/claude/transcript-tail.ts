import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { z } from 'zod';
import { systemCodeOf } from '../base/errors.js';

const READ_BYTES = 256 * 1024;
/** A longer line (a pasted file, an image) holds nothing for a log. */
const MAX_LINE_BYTES = 4 * 1024 * 1024;

const assistantLine = z.object({
  type: z.literal('assistant'),
  isSidechain: z.boolean().optional(),
  message: z.object({ model: z.string().optional(), content: z.array(z.unknown()) }),
});
const textBlock = z.object({ type: z.literal('text'), text: z.string() });

/** Follows a session's transcript (`<session>.jsonl`) and returns what the assistant said, each line once. */
export class TranscriptTail {
  readonly #path: string;
  #offset = 0;
  #rest: Buffer = Buffer.alloc(0);

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the texts added since the last call; none while the file does not exist. */
  async readNew(): Promise<string[]> {
    let file;
    try {
      file = await open(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
    try {
      if (!(await file.stat()).isFile()) return [];
      const texts: string[] = [];
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(READ_BYTES), 0, READ_BYTES, this.#offset);
        if (bytesRead === 0) return texts;
        this.#offset += bytesRead;
        texts.push(...this.#take(buffer.subarray(0, bytesRead)));
      }
    } finally {
      await file.close();
    }
  }

  #take(chunk: Buffer): string[] {
    const texts: string[] = [];
    let data = Buffer.concat([this.#rest, chunk]);
    for (let end = data.indexOf(0x0a); end !== -1; end = data.indexOf(0x0a)) {
      texts.push(...assistantTexts(data.subarray(0, end).toString('utf8')));
      data = data.subarray(end + 1);
    }
    this.#rest = data.length > MAX_LINE_BYTES ? Buffer.alloc(0) : Buffer.from(data);
    return texts;
  }
}

/** Empty for a line that is not the assistant's, and for invalid JSON (an incomplete or too long line). */
function assistantTexts(line: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return [];
  }
  const parsed = assistantLine.safeParse(value);
  if (!parsed.success || parsed.data.isSidechain === true) return [];
  return parsed.data.message.content.flatMap((block) => {
    const text = textBlock.safeParse(block);
    return text.success && text.data.text.trim() !== '' ? [text.data.text] : [];
  });
}
