import { sleep, type Clock } from '../base/clock.js';
import type { CallTime } from './call-time.js';
import { newEditorRequestId, type EditorConnection } from './editor-connection.js';
import { headPage, tailPage, type OutputPage, type PageQuery } from './output-page.js';
import { MAX_OUTPUT_CHARS, type EditorMessageOf } from './protocol.js';

const READ_LIMIT_MS = 5_000;
/** Output that comes in many pieces is read in few. */
const GATHER_MS = 100;

export interface ReadQuery extends PageQuery {
  readonly terminalId: string;
  /** Without it, the newest output. */
  readonly cursor: number | undefined;
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

interface Reader {
  readonly connection: EditorConnection;
  readonly query: ReadQuery;
  readonly time: CallTime;
  readonly clock: Clock;
  readonly maxChars: number;
}

/** Reads the output of a terminal. Throws TERMINAL_NOT_FOUND, TERMINAL_CLOSED, EDITOR_UNREACHABLE, EDITOR_VERSION. */
export async function readTerminal(
  connection: EditorConnection,
  query: ReadQuery,
  { time, clock }: { readonly time: CallTime; readonly clock: Clock },
): Promise<ReadOutcome> {
  const maxChars = Math.min(query.maxBytes, MAX_OUTPUT_CHARS);
  const reader = { connection, query, time, clock, maxChars };
  return query.cursor === undefined ? newest(reader) : following(reader, query.cursor);
}

async function newest(reader: Reader): Promise<ReadOutcome> {
  const { query, maxChars } = reader;
  let read = await ask(reader, { maxChars });
  const wasBusy = read.state === 'busy' && query.waitMs > 0;
  for await (const later of pieces(reader, read, () => MAX_OUTPUT_CHARS)) read = later;
  if (wasBusy) read = await ask(reader, { maxChars });
  return outcome(read, tailPage(read, query, read.from > 0), 0);
}

async function following(reader: Reader, cursor: number): Promise<ReadOutcome> {
  const { query, maxChars } = reader;
  let read = await ask(reader, { cursor, maxChars });
  const { from } = read;
  let { text, dropped } = read;
  for await (const later of pieces(reader, read, () => maxChars - text.length)) {
    text += later.text;
    dropped += later.dropped;
    read = later;
  }
  const page = headPage({ text, from }, query, read.state === 'busy' || read.more);
  return outcome(read, page, dropped);
}

/** What is printed after `read`, until nothing runs and all was read, the time is over, or there is no room. */
async function* pieces(
  reader: Reader,
  read: EditorMessageOf<'output'>,
  room: () => number,
): AsyncGenerator<EditorMessageOf<'output'>> {
  const { query, time, clock } = reader;
  const endMs = clock.monotonicMs() + Math.min(query.waitMs, time.leftMs() - READ_LIMIT_MS);
  let last = read;
  for (;;) {
    const leftMs = Math.floor(endMs - clock.monotonicMs());
    const maxChars = Math.min(room(), MAX_OUTPUT_CHARS);
    if (leftMs <= 0 || maxChars <= 0 || (last.state === 'idle' && !last.more)) return;
    last = await ask(reader, { cursor: last.cursor, maxChars, waitMs: leftMs });
    yield last;
    if (last.text !== '') await sleep(clock, Math.min(GATHER_MS, leftMs));
  }
}

function ask(
  { connection, query, time }: Reader,
  options: { readonly cursor?: number; readonly maxChars: number; readonly waitMs?: number },
): Promise<EditorMessageOf<'output'>> {
  const { terminalId } = query;
  const id = newEditorRequestId('read');
  const limitMs = time.leftMs((options.waitMs ?? 0) + READ_LIMIT_MS);
  return connection.ask({ type: 'read_output', id, terminalId, ...options }, 'output', limitMs);
}

function outcome(read: EditorMessageOf<'output'>, page: OutputPage, dropped: number): ReadOutcome {
  const { terminalId, state, execution } = read;
  const ended = execution?.state === 'ended' ? execution : undefined;
  return {
    terminalId,
    state,
    exitCode: ended?.exitCode ?? null,
    timedOut: ended?.timedOut ?? false,
    dropped,
    more: read.more || page.cursor < read.cursor,
    ...page,
  };
}
