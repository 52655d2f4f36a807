import type { Clock } from '../../base/clock.js';
import { headBytes } from '../../base/text/text.js';

/** Where the log's text goes; a file in a keeper. */
export interface TextSink {
  write(text: string): void;
}

/** One line of a program's output is cut here: a log is for reading. */
const MAX_LINE_CHARS = 4_000;
/** The longest answer that a model gives in one turn is shorter by far. */
const MAX_ENTRY_BYTES = 512 * 1024;
/** Keeps the control characters of a program or a file name from forging lines or moving the reader's cursor. */
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const hasControlCharacter = new RegExp(controlCharacters.source);

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
    this.#sink.write(`[${at}] ${clean(text).trimEnd().replaceAll('\n', '\n    ')}\n`);
  }

  /** Texts of one or more lines that a program printed, as they were. */
  output(texts: readonly string[]): void {
    if (texts.length === 0) return;
    this.#sink.write(`${texts.map((text) => cutLines(clean(text))).join('\n')}\n`);
  }
}

function clean(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  return hasControlCharacter.test(lines) ? lines.replace(controlCharacters, ' ') : lines;
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
