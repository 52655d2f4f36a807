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
    const at = new Date(this.#clock.now()).toISOString();
    const text = clean(headBytes(words, MAX_ENTRY_BYTES)).trimEnd();
    this.#sink.write(`[${at}] ${text.replaceAll('\n', `\n${INDENT}`)}\n`);
  }

  /** Texts of one or more lines that a program printed, as they were; those that look like the log's own are indented. */
  output(texts: readonly string[]): void {
    if (texts.length === 0) return;
    const lines = clean(texts.join('\n')).split('\n').map(cut);
    this.#sink.write(`${lines.join('\n').replaceAll(likeOwn, INDENT)}\n`);
  }
}

function clean(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unsafe, ' ');
}

function cut(line: string): string {
  const more = line.length - MAX_LINE_CHARS;
  return more <= 0 ? line : `${line.slice(0, MAX_LINE_CHARS)}… (${more} more characters)`;
}
