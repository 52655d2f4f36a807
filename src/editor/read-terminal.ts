import { sleep } from '../base/clock.js';
import { headBytes, plainText, tailBytes } from '../base/text.js';
import type { EditorConnection } from './editor-connection.js';
import { MAX_OUTPUT_CHARS, type EditorMessageOf, type EditorRequestOf } from './protocol.js';

/** A part of what a terminal printed; positions count characters from its beginning. */
export interface OutputPage {
  readonly text: string;
  readonly from: number;
  /** Where the next read goes on. */
  readonly cursor: number;
}

export interface PageQuery {
  readonly maxBytes: number;
  /** With escape sequences. */
  readonly raw: boolean;
}

/** For an answer that waits for nothing. */
export const READ_LIMIT_MS = 5_000;
/** Output that comes in many pieces is read in few. */
const GATHER_MS = 100;

export interface ReadQuery extends PageQuery {
  readonly terminalId: string;
  /** Without it, the newest output. */
  readonly cursor?: number | undefined;
  /** For the end of what runs, or until the page is full. */
  readonly waitMs: number;
}

export interface ReadOutcome extends OutputPage {
  readonly terminalId: string;
  readonly state: 'idle' | 'busy';
  /** Of the last command that has ended; null where none has, or the shell does not say. */
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  /** Characters behind the cursor that are not kept any more. */
  readonly dropped: number;
  readonly more: boolean;
}

/** Reads the output of a terminal. Throws TERMINAL_NOT_FOUND, TERMINAL_CLOSED, EDITOR_UNREACHABLE, EDITOR_VERSION. */
export async function readTerminal(connection: EditorConnection, query: ReadQuery): Promise<ReadOutcome> {
  const { terminalId, cursor, waitMs } = query;
  const maxChars = Math.min(query.maxBytes, MAX_OUTPUT_CHARS);
  const newest = { terminalId, maxChars };
  let read = await readOutput(connection, cursor === undefined ? newest : { ...newest, cursor });
  if (cursor === undefined) {
    const wasBusy = read.state === 'busy' && waitMs > 0;
    for await (const later of pieces(connection, query, read, () => MAX_OUTPUT_CHARS)) read = later;
    if (wasBusy) read = await readOutput(connection, newest);
    return outcome(read, tailPage(read, query, read.from > 0), 0);
  }
  let { text, dropped } = read;
  const { from } = read;
  for await (const later of pieces(connection, query, read, () => maxChars - text.length)) {
    text += later.text;
    dropped += later.dropped;
    read = later;
  }
  return outcome(read, headPage({ text, from }, query, read.state === 'busy' || read.more), dropped);
}

/** What is printed after `read`, until nothing runs and all was read, the time is over, or there is no room. */
async function* pieces(
  connection: EditorConnection,
  { terminalId, waitMs }: ReadQuery,
  read: EditorMessageOf<'output'>,
  room: () => number,
): AsyncGenerator<EditorMessageOf<'output'>> {
  const { clock } = connection.call;
  const endMs = clock.monotonicMs() + Math.min(waitMs, connection.call.leftMs() - READ_LIMIT_MS);
  for (let last = read; ;) {
    const leftMs = Math.floor(endMs - clock.monotonicMs());
    const maxChars = Math.min(room(), MAX_OUTPUT_CHARS);
    if (leftMs <= 0 || maxChars <= 0 || (last.state === 'idle' && !last.more)) return;
    last = await readOutput(connection, { terminalId, cursor: last.cursor, maxChars, waitMs: leftMs });
    yield last;
    if (last.text !== '') await sleep(clock, Math.min(GATHER_MS, leftMs));
  }
}

/** One answer of the extension. Throws as `readTerminal`. */
export function readOutput(
  connection: EditorConnection,
  asked: Omit<EditorRequestOf<'read_output'>, 'type' | 'id'>,
): Promise<EditorMessageOf<'output'>> {
  const limitMs = connection.call.leftMs((asked.waitMs ?? 0) + READ_LIMIT_MS);
  return connection.ask({ type: 'read_output', ...asked }, 'output', limitMs);
}

function outcome(read: EditorMessageOf<'output'>, page: OutputPage, dropped: number): ReadOutcome {
  const { terminalId, state, execution } = read;
  const ended = execution?.state === 'ended' ? execution : undefined;
  return {
    ...{ terminalId, state, dropped },
    exitCode: ended?.exitCode ?? null,
    timedOut: ended?.timedOut ?? false,
    more: read.more || page.cursor < read.cursor,
    ...page,
  };
}

type Printed = Pick<OutputPage, 'text' | 'from'>;

/** An escape sequence whose end has not been printed yet, or is not in the text. */
const UNFINISHED = /\u001b(?:\[[0-?]*[ -/]*|[\]PX^_][^\u0007\u0018\u001a\u001b]{0,4096}\u001b?|[ -/]*)$/;

/** The beginning of the text. A sequence that is not whole is left for the next read where `isMoreToCome`. */
function headPage({ text, from }: Printed, { maxBytes, raw }: PageQuery, isMoreToCome: boolean): OutputPage {
  const head = headBytes(text, maxBytes);
  const isCut = head.length < text.length;
  const whole = isCut || isMoreToCome ? head.replace(UNFINISHED, '') : head;
  // What looks like one but fills all of the page is none, and must not be read again for ever.
  const printed = whole === '' ? head : whole;
  return { text: shown(printed, raw), from, cursor: from + printed.length };
}

/** The end of the text; where its front is cut, from the beginning of a line on, if there is one. */
export function tailPage({ text, from }: Printed, { maxBytes, raw }: PageQuery, isCut: boolean): OutputPage {
  const tail = tailBytes(text, maxBytes);
  const lineStart = isCut || tail.length < text.length ? tail.indexOf('\n') + 1 : 0;
  const lines = lineStart < tail.length ? tail.slice(lineStart) : tail;
  const cursor = from + text.length;
  return { text: shown(lines, raw), from: cursor - lines.length, cursor };
}

function shown(text: string, raw: boolean): string {
  return raw ? text : plainText(text);
}
