import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { CallTime } from './editor-windows.js';
import { newEditorRequestId, type EditorConnection } from './editor-connection.js';
import { MAX_OUTPUT_CHARS, type EditorMessageOf, type EditorTerminal } from './protocol.js';
import { tailPage, type OutputPage, type PageQuery } from './read-terminal.js';

/** Output that pauses for so long is taken for all that came of an input. */
const QUIET_MS = 1_000;
const ANSWER_LIMIT_MS = 5_000;
/** The longest that the extension lets a command run: a call does not wait for its end. */
const RUN_LIMIT_MS = 24 * 3_600_000;
/** What is left of the call's time for reading the output. */
const READ_LIMIT_MS = 5_000;

export interface CommandQuery extends PageQuery {
  readonly command: string;
  readonly waitMs: number;
}

export interface CommandOutcome extends OutputPage {
  readonly terminalId: string;
  readonly state: 'running' | 'ended';
  /** Null while it runs, and where the shell does not say. */
  readonly exitCode: number | null;
  /** It was interrupted after a day. */
  readonly timedOut: boolean;
  /** Where its output begins. */
  readonly start: number;
}

interface CommandEnd {
  readonly exitCode: number | null;
  readonly timedOut: boolean;
  readonly cursor: number;
}

/**
 * Runs a command in an idle terminal and waits for its end, at most `waitMs`: then it goes on. Throws TERMINAL_BUSY and what else
 * the extension refuses; EDITOR_UNREACHABLE, with how to go on.
 */
export async function runCommand(
  connection: EditorConnection,
  terminalId: string,
  query: CommandQuery,
  time: CallTime,
): Promise<CommandOutcome> {
  let start: number | undefined;
  try {
    const answers = connection.send({
      type: 'execute',
      id: newEditorRequestId('run'),
      terminalId,
      command: query.command,
      timeoutMs: RUN_LIMIT_MS,
      ifBusy: 'refuse',
      answer: 'start',
    });
    const startMs = Math.max(0, time.leftMs() - READ_LIMIT_MS);
    const started = await connection.answer(answers, 'success', startMs);
    start = started.from ?? started.cursor ?? 0;
    const waitMs = Math.max(0, Math.min(query.waitMs, time.leftMs() - READ_LIMIT_MS));
    const message = await answers.next(waitMs);
    // Without one it goes on.
    const end = message === undefined ? undefined : connection.expect(message, 'execution_ended', waitMs);
    const page = await newestPage(connection, { terminalId, start, end, query, time });
    const { exitCode = null, timedOut = false } = end ?? {};
    return { terminalId, state: end === undefined ? 'running' : 'ended', exitCode, timedOut, start, ...page };
  } catch (error) {
    throw goesOn(error, terminalId, start);
  }
}

/** The newest output behind `start`; up to `end`, where it has ended. */
async function newestPage(
  connection: EditorConnection,
  at: {
    readonly terminalId: string;
    readonly start: number;
    readonly end: CommandEnd | undefined;
    readonly query: PageQuery;
    readonly time: CallTime;
  },
): Promise<OutputPage> {
  const { terminalId, start, end, query, time } = at;
  const most = Math.min(query.maxBytes, MAX_OUTPUT_CHARS);
  const maxChars = end === undefined ? most : Math.min(most, end.cursor - start);
  if (maxChars <= 0) return { text: '', from: start, cursor: start };
  const read = await connection.ask(
    {
      type: 'read_output',
      id: newEditorRequestId('read'),
      terminalId,
      maxChars,
      ...(end !== undefined && { cursor: end.cursor - maxChars }),
    },
    'output',
    time.leftMs(READ_LIMIT_MS),
  );
  // What was printed before the command is not its output.
  const before = Math.max(0, start - read.from);
  const from = read.from + before;
  return tailPage({ text: read.text.slice(before), from }, query, from > start);
}

/** A lost connection ends no command; `start` is where its output begins, once it was started. */
function goesOn(error: unknown, terminalId: string, start: number | undefined): unknown {
  if (!(error instanceof BridgeError) || error.code !== 'EDITOR_UNREACHABLE') return error;
  const from = start === undefined ? '' : ` and cursor ${start}`;
  return new BridgeError(
    error.code,
    `${error.message} ${start === undefined ? 'It is not known whether the command was started.' : 'The command was started and may still run.'}`,
    `The terminal goes on without the connection: read_terminal with terminal_id ${terminalId}${from} shows its output.`,
    { data: { terminal_id: terminalId, ...(start !== undefined && { cursor: String(start) }) } },
  );
}

export interface InputQuery extends PageQuery {
  readonly text: string;
  readonly waitMs: number;
}

/**
 * Types into what runs in a terminal, and waits for its end or a pause behind its output, at most `waitMs`. Throws
 * INVALID_ARGUMENTS where nothing runs, and as `runCommand`.
 */
export async function typeInput(
  connection: EditorConnection,
  terminal: Pick<EditorTerminal, 'terminalId' | 'state' | 'cursor'>,
  query: InputQuery,
  { time, clock }: { readonly time: CallTime; readonly clock: Clock },
): Promise<CommandOutcome> {
  const { terminalId, cursor: start } = terminal;
  if (terminal.state === 'idle') {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'Nothing runs in the terminal that could read text or keys.',
      'Give command instead.',
    );
  }
  const input = { type: 'input', id: newEditorRequestId('input'), terminalId, text: query.text } as const;
  await connection.ask(input, 'success', time.leftMs(ANSWER_LIMIT_MS));
  const read = await untilQuiet(connection, { terminalId, start, waitMs: query.waitMs, time, clock });
  const page = await newestPage(connection, { terminalId, start, end: undefined, query, time });
  const ended = read.execution?.state === 'ended' ? read.execution : undefined;
  return {
    terminalId,
    state: read.state === 'busy' ? 'running' : 'ended',
    exitCode: ended?.exitCode ?? null,
    timedOut: false,
    start,
    ...page,
  };
}

async function untilQuiet(
  connection: EditorConnection,
  {
    terminalId,
    start,
    waitMs,
    time,
    clock,
  }: {
    readonly terminalId: string;
    readonly start: number;
    readonly waitMs: number;
    readonly time: CallTime;
    readonly clock: Clock;
  },
): Promise<EditorMessageOf<'output'>> {
  const endMs = clock.monotonicMs() + Math.min(waitMs, time.leftMs() - 2 * ANSWER_LIMIT_MS);
  let cursor = start;
  for (;;) {
    const leftMs = Math.max(0, Math.floor(endMs - clock.monotonicMs()));
    const pauseMs = cursor > start ? Math.min(QUIET_MS, leftMs) : leftMs;
    const request = { type: 'read_output', id: newEditorRequestId('read'), terminalId, cursor } as const;
    const limitMs = time.leftMs(pauseMs + ANSWER_LIMIT_MS);
    const read = await connection.ask({ ...request, waitMs: pauseMs }, 'output', limitMs);
    const isQuiet = read.text === '';
    if (leftMs === 0 || (!read.more && (isQuiet || read.state === 'idle'))) return read;
    cursor = read.cursor;
  }
}
