import { BridgeError } from '../base/errors.js';
import type { EditorConnection } from './editor-connection.js';
import { MAX_OUTPUT_CHARS, type EditorMessageOf, type EditorTerminal } from './protocol.js';
import { readOutput, READ_LIMIT_MS, tailPage, type OutputPage, type PageQuery } from './read-terminal.js';

/** Output that pauses for so long is taken for all that came of an input. */
const QUIET_MS = 1_000;
/** The longest that the extension lets a command run: a call does not wait for its end. */
const RUN_LIMIT_MS = 24 * 3_600_000;

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

/**
 * Runs a command in an idle terminal and waits for its end, at most `waitMs`: then it goes on. Throws TERMINAL_BUSY and what else
 * the extension refuses; EDITOR_UNREACHABLE, with how to go on.
 */
export async function runCommand(
  connection: EditorConnection,
  terminalId: string,
  query: CommandQuery,
): Promise<CommandOutcome> {
  const { call } = connection;
  let start: number | undefined;
  try {
    const answers = connection.send({
      ...{ type: 'execute', terminalId, command: query.command, ifBusy: 'refuse', answer: 'start' },
      timeoutMs: RUN_LIMIT_MS,
    });
    const started = await answers.of('success', Math.max(0, call.leftMs() - READ_LIMIT_MS));
    start = started.from ?? started.cursor ?? 0;
    const waitMs = Math.max(0, Math.min(query.waitMs, call.leftMs() - READ_LIMIT_MS));
    const message = await answers.next(waitMs);
    // Without one it goes on.
    const end = message && answers.expect(message, 'execution_ended', waitMs);
    const page = await newestPage(connection, terminalId, query, start, end?.cursor);
    const { exitCode = null, timedOut = false } = end ?? {};
    return { terminalId, state: end === undefined ? 'running' : 'ended', exitCode, timedOut, start, ...page };
  } catch (error) {
    throw goesOn(error, terminalId, start);
  }
}

/** The newest output behind `start`; up to `end`, where it has ended. */
async function newestPage(
  connection: EditorConnection,
  terminalId: string,
  query: PageQuery,
  start: number,
  end?: number,
): Promise<OutputPage> {
  const most = Math.min(query.maxBytes, MAX_OUTPUT_CHARS);
  const maxChars = end === undefined ? most : Math.min(most, end - start);
  if (maxChars <= 0) return { text: '', from: start, cursor: start };
  const cursor = end === undefined ? {} : { cursor: end - maxChars };
  const read = await readOutput(connection, { terminalId, maxChars, ...cursor });
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
  { terminalId, state, cursor: start }: Pick<EditorTerminal, 'terminalId' | 'state' | 'cursor'>,
  query: InputQuery,
): Promise<CommandOutcome> {
  if (state === 'idle') {
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      'Nothing runs in the terminal that could read text or keys.',
      'Give command instead.',
    );
  }
  const input = { type: 'input', terminalId, text: query.text } as const;
  await connection.ask(input, 'success', connection.call.leftMs(READ_LIMIT_MS));
  const read = await untilQuiet(connection, terminalId, start, query.waitMs);
  const page = await newestPage(connection, terminalId, query, start);
  return {
    terminalId,
    state: read.state === 'busy' ? 'running' : 'ended',
    exitCode: read.execution?.state === 'ended' ? read.execution.exitCode : null,
    timedOut: false,
    start,
    ...page,
  };
}

async function untilQuiet(
  connection: EditorConnection,
  terminalId: string,
  start: number,
  waitMs: number,
): Promise<EditorMessageOf<'output'>> {
  const { call } = connection;
  const endMs = call.clock.monotonicMs() + Math.min(waitMs, call.leftMs() - 2 * READ_LIMIT_MS);
  for (let cursor = start; ;) {
    const leftMs = Math.max(0, Math.floor(endMs - call.clock.monotonicMs()));
    const pauseMs = cursor > start ? Math.min(QUIET_MS, leftMs) : leftMs;
    const read = await readOutput(connection, { terminalId, cursor, waitMs: pauseMs });
    const isQuiet = read.text === '';
    if (leftMs === 0 || (!read.more && (isQuiet || read.state === 'idle'))) return read;
    cursor = read.cursor;
  }
}
