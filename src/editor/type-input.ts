import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import type { CallTime } from './call-time.js';
import { newEditorRequestId, type EditorConnection } from './editor-connection.js';
import type { PageQuery } from './output-page.js';
import type { EditorMessageOf, EditorTerminal } from './protocol.js';
import { newestPage, type CommandOutcome } from './run-command.js';

/** Output that pauses for so long is taken for all that came of an input. */
const QUIET_MS = 1_000;
const ANSWER_LIMIT_MS = 5_000;

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
