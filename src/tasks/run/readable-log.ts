// Pure.
import type { Clock } from '../../base/clock.js';
import { headBytes } from '../../base/text.js';

/** Where the log's text goes; a file in a keeper. */
export interface TextSink {
  write(text: string): void;
}

/** One line of a program's output is cut here: a log is for reading. */
const MAX_LINE_CHARS = 4_000;
/** The longest answer that a model gives in one turn is shorter by far. */
const MAX_ENTRY_BYTES = 512 * 1024;
/** All unsafe characters but the line feed: those of a program or a file name must forge no lines, nor move or turn what is read. */
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const hasUnsafe = new RegExp(unsafe.source);
/** The beginning of a line that looks like one of the log's own, also behind characters that nobody sees. */
const likeOwn =
  /^(?=(?:[^\S\n]|[\p{Cf}\p{Default_Ignorable_Code_Point}])*\[(?:\d{4}-\d\d-\d\dT|The log was rotated|\d+ bytes left out))/gmu;
const INDENT = '    ';

/** The task's log as a person reads it: `[time] words`, then plain text; no escape codes. */
export class ReadableLog {
  readonly #sink: TextSink;
  readonly #clock: Clock;

  constructor(sink: TextSink, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  /** An entry with its time; further lines of `text` follow indented, so that none looks like an entry of its own. */
  entry(words: string): void {
    const text = headBytes(words, MAX_ENTRY_BYTES);
    const at = new Date(this.#clock.now()).toISOString();
    this.#sink.write(`[${at}] ${clean(text).trimEnd().replaceAll('\n', `\n${INDENT}`)}\n`);
  }

  /** Texts of one or more lines that a program printed, as they were; those that look like the log's own are indented. */
  output(texts: readonly string[]): void {
    if (texts.length === 0) return;
    const text = texts.map((one) => cutLines(clean(one))).join('\n');
    this.#sink.write(`${text.replaceAll(likeOwn, INDENT)}\n`);
  }
}

function clean(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  return hasUnsafe.test(lines) ? lines.replace(unsafe, ' ') : lines;
}

/** Looks from line end to line end, never at each character: most text has no line to cut. */
function cutLines(text: string): string {
  for (let at = 0; text.length - at > MAX_LINE_CHARS;) {
    const end = text.lastIndexOf('\n', at + MAX_LINE_CHARS);
    if (end < at) return text.split('\n').map(cut).join('\n');
    at = end + 1;
  }
  return text;
}

function cut(line: string): string {
  return line.length <= MAX_LINE_CHARS
    ? line
    : `${line.slice(0, MAX_LINE_CHARS)}… (${line.length - MAX_LINE_CHARS} more characters)`;
}
