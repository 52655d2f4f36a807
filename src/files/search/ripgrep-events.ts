// Pure.
import { z } from 'zod';

/** ripgrep encodes text that is not UTF-8 as base64. */
const textSchema = z.object({ text: z.string().optional(), bytes: z.base64().optional() });
const beginSchema = z.object({ data: z.object({ path: textSchema }) });
const lineSchema = z.object({
  data: z.object({
    lines: textSchema,
    line_number: z.int(),
    submatches: z.array(z.object({ start: z.int() })),
  }),
});
const endSchema = z.object({ data: z.object({ binary_offset: z.int().nullish() }) });
const otherSchema = z.object({ type: z.string() });

/** Each line except the last one begins with `{"type":"`; the first letter after it identifies the type. */
const TYPE_AT = '{"type":"'.length;
/** An event of this size is parsed in about 20 ms. A line of megabytes, or with as many matches, would take longer. */
const MAX_EVENT_BYTES = 1_000_000;
const LINE_FEED = 0x0a;

/** A line with a match, or one beside it. */
export interface RipgrepLine {
  readonly line: number;
  /** Column of the first match, from 0, in UTF-16 units; undefined for a line beside a match. */
  readonly column: number | undefined;
  /** The line without its line end. */
  readonly text: string;
}

export interface RipgrepListener {
  /** Returns false to skip the lines of this file. */
  begin(path: string): boolean;
  /** Called for a file with matches whose name is not UTF-8, which an answer cannot contain. */
  replacedName(): void;
  line(line: RipgrepLine): void;
  /** Called when a line of this file has matches, but its event is too large to parse. */
  tooLarge(): void;
  /** `isBinary`: ripgrep found a NUL after these lines and did not search the rest. */
  end(isBinary: boolean): void;
}

/** Parses the stream of `rg --json`, file by file, without parsing lines of skipped files. */
export class RipgrepEvents {
  /** True when ripgrep has searched all files. */
  isWhole = false;
  readonly #listener: RipgrepListener;
  #pieces: Buffer[] = [];
  #length = 0;
  #isWanted = false;

  constructor(listener: RipgrepListener) {
    this.#listener = listener;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#add(chunk.subarray(start, end));
      if (this.#length <= MAX_EVENT_BYTES) this.#take(Buffer.concat(this.#pieces));
      // All other events are small.
      else if (this.#isWanted) this.#listener.tooLarge();
      this.#pieces = [];
      this.#length = 0;
      start = end + 1;
    }
    this.#add(chunk.subarray(start));
  }

  #add(piece: Buffer): void {
    this.#length += piece.length;
    if (piece.length > 0 && this.#length <= MAX_EVENT_BYTES) this.#pieces.push(piece);
  }

  #take(line: Buffer): void {
    switch (String.fromCharCode(line[TYPE_AT] ?? 0)) {
      case 'b': {
        const { text } = beginSchema.parse(jsonOf(line)).data.path;
        if (text === undefined) this.#listener.replacedName();
        this.#isWanted = text !== undefined && this.#listener.begin(text.replace(/^\.\//, ''));
        break;
      }
      case 'm':
      case 'c':
        if (this.#isWanted) this.#listener.line(lineOf(line));
        break;
      case 'e': {
        const { binary_offset } = endSchema.parse(jsonOf(line)).data;
        if (this.#isWanted) this.#listener.end(typeof binary_offset === 'number');
        break;
      }
      default:
        // The summary begins differently, since its fields are in alphabetical order.
        this.isWhole ||= otherSchema.parse(jsonOf(line)).type === 'summary';
        break;
    }
  }
}

function lineOf(event: Buffer): RipgrepLine {
  const { lines, line_number, submatches } = lineSchema.parse(jsonOf(event)).data;
  const bytes = lines.text === undefined ? Buffer.from(lines.bytes ?? '', 'base64') : undefined;
  const text = bytes?.toString('utf8') ?? lines.text ?? '';
  const start = submatches[0]?.start;
  return {
    line: line_number,
    column: start === undefined ? undefined : (bytes ?? Buffer.from(text)).toString('utf8', 0, start).length,
    text: text.replace(/\r?\n$/, ''),
  };
}

function jsonOf(line: Buffer): unknown {
  const value: unknown = JSON.parse(line.toString('utf8'));
  return value;
}
