import type { Clock } from '../base/clock.js';

/** Where the log's text goes; a RotatingFile in a keeper. */
export interface TextSink {
  write(text: string): void;
}

/** One line of a program's output is cut here: a log is for reading. */
const MAX_LINE_CHARS = 4_000;
/** Keeps the control characters of a program or a file name from forging lines or moving the reader's cursor. */
const controlCharacters = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** The task's log as a person reads it: `[time] words`, then plain text; no escape codes. */
export class ReadableLog {
  readonly #sink: TextSink;
  readonly #clock: Clock;

  constructor(sink: TextSink, clock: Clock) {
    this.#sink = sink;
    this.#clock = clock;
  }

  /** An entry with its time; further lines of `text` follow indented, so that none looks like an entry of its own. */
  entry(text: string): void {
    const at = new Date(this.#clock.now()).toISOString();
    this.#sink.write(`[${at}] ${clean(text).trimEnd().replaceAll('\n', '\n    ')}\n`);
  }

  /** Lines that a program printed, as they were. */
  output(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#sink.write(`${lines.map((line) => cut(clean(line))).join('\n')}\n`);
  }
}

function clean(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(controlCharacters, ' ');
}

function cut(line: string): string {
  return line.length <= MAX_LINE_CHARS
    ? line
    : `${line.slice(0, MAX_LINE_CHARS)}… (${line.length - MAX_LINE_CHARS} more characters)`;
}
