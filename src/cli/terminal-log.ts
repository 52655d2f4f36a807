// Pure: the log of a task as a person reads it in a terminal.
import { escapedUnsafe, oneLine } from '../base/text.js';
import { cutTo, durationOf, fitted, localDay, localTime, type Look, type Style } from './terminal-text.js';

/** A step that takes longer says how long; the line of what runs now appears after as long without a new entry. */
const LONG_MS = 10_000;
/** An entry of the log: its time and the words. What a program or an agent wrote never looks like one. */
const ENTRY = /^\[(\d{4}-\d\d-\d\dT[\d:.]+Z)\] (.*)$/;
const TIME_CHARS = 9;
/** What an entry begins with. */
const MARKS: ReadonlyMap<string, Style> = new Map([
  ['▶', 'cyan'],
  ['✓', 'green'],
  ['✗', 'red'],
  ['?', 'yellow'],
  ['–', 'dim'],
  ['Claude:', 'bold'],
]);
const ERASE = '\r\x1b[K';
/** A longer line is shown in parts. */
const MAX_LINE_CHARS = 64 * 1024;

/**
 * Writes a log to a terminal: the local time of each entry, its mark in a colour, wrapped at words, and how long a long step took. While no
 * entry comes, its last line says what runs and for how long. Elsewhere than in a terminal it writes the log as it is.
 */
export class TerminalLog {
  readonly #look: Look;
  readonly #write: (text: string) => unknown;
  /** The beginning of a line whose end has not come. */
  #rest = '';
  #day: string;
  /** When each command began that has not ended, by its words. */
  readonly #steps = new Map<string, number>();
  /** Of the newest entry. */
  #entryMs: number | undefined;
  #working = '';

  /** `nowMs`: entries of another day than this come below their date. */
  constructor(look: Look, nowMs: number, write: (text: string) => unknown) {
    this.#look = look;
    this.#write = write;
    this.#day = localDay(nowMs);
  }

  /** Further text of the log, which may end anywhere. Resolves when the output takes more. */
  readonly write = async (text: string): Promise<void> => {
    if (this.#look.columns === undefined) {
      await this.#write(text);
      return;
    }
    const lines = `${this.#rest}${text}`.split('\n');
    const isCut = (lines.at(-1) ?? '').length > MAX_LINE_CHARS;
    this.#rest = isCut ? '' : (lines.pop() ?? '');
    if (lines.length === 0) return;
    this.clear();
    await this.#write(lines.map((line) => `${this.#shown(line)}\n`).join(''));
  };

  /** Says in the last line what runs, when no entry has come for long. */
  working(activity: string, nowMs: number): void {
    const { columns, paint, own } = this.#look;
    if (columns === undefined || this.#entryMs === undefined || nowMs - this.#entryMs < LONG_MS) return;
    const text = cutTo(`… ${oneLine(activity, columns)} (${durationOf(nowMs - this.#entryMs)})`, columns - 1);
    if (text === this.#working) return;
    this.#working = text;
    this.#write(`${own(ERASE)}${paint('dim', text)}`);
  }

  /** Says a line below the log, where the line of what runs was. */
  below(say: (line: string) => void): (line: string) => void {
    return (line) => {
      this.clear();
      say(line);
    };
  }

  /** Takes that line away, before others write to the terminal. */
  clear(): void {
    if (this.#working !== '') this.#write(this.#look.own(ERASE));
    this.#working = '';
  }

  /** Nothing follows. */
  end(): void {
    this.clear();
    if (this.#rest !== '') this.#write(`${this.#shown(this.#rest)}\n`);
    this.#rest = '';
  }

  #shown(written: string): string {
    const line = escapedUnsafe(written);
    const { columns = 0, paint } = this.#look;
    const [, at, words = ''] = ENTRY.exec(line) ?? [];
    if (at === undefined) {
      const indent = /^ */.exec(line)?.[0] ?? '';
      return fitted(line, this.#look, indent.length < columns / 2 ? indent : '');
    }
    this.#entryMs = Date.parse(at);
    const took = this.#took(words, this.#entryMs);
    const rows = fitted(
      `${localTime(at)} ${words}${took === undefined ? '' : ` (${durationOf(took)})`}`,
      this.#look,
      ' '.repeat(TIME_CHARS),
    );
    const [mark = ''] = words.split(' ', 1);
    const style = MARKS.get(mark);
    const body = rows.slice(TIME_CHARS);
    const marked = style === undefined ? body : body.replace(mark, () => paint(style, mark));
    return `${this.#dayLine(at)}${paint('dim', rows.slice(0, TIME_CHARS))}${marked}`;
  }

  #dayLine(at: string): string {
    const day = localDay(at);
    if (day === this.#day) return '';
    this.#day = day;
    return `${this.#look.paint('dim', day)}\n`;
  }

  /** How long the command took that this entry says the end of, if that was long. */
  #took(words: string, atMs: number): number | undefined {
    const said = words.slice(2);
    if (words.startsWith('▶ ')) this.#steps.set(said, atMs);
    if (!/^[✓✗] /.test(words)) return undefined;
    for (const [step, since] of this.#steps) {
      if (!said.startsWith(`${step}: `) && !said.startsWith(`${step} failed`)) continue;
      this.#steps.delete(step);
      return atMs - since < LONG_MS ? undefined : atMs - since;
    }
    return undefined;
  }
}
