import {
  DEFAULT_OUTPUT_CHARS,
  DEFAULT_TIMEOUT_MS,
  type EditorExecution,
  type EditorMessage,
  type EditorMessageOf,
  type EditorRequestOf,
} from '../../../src/editor/protocol.js';
import type { Program } from '../connection/client.js';
import { EditorError } from '../editor-error.js';
import type { BridgeTerminal } from '../terminals/bridge-terminal.js';
import { oneLineCommand, withArguments } from '../terminals/quote.js';
import { Follower } from './follower.js';

type ExecuteRequest = EditorRequestOf<'execute'>;

/** Runs a command in a terminal. Throws TERMINAL_BUSY, NOT_SUPPORTED, NOT_STARTED, TIMED_OUT and TERMINAL_CLOSED. */
export async function execute(
  request: ExecuteRequest,
  terminal: BridgeTerminal,
  program: Program,
): Promise<EditorMessage> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, ifBusy = 'queue' } = request;
  const shell = terminal.backend.shell ?? '';
  const line = oneLineCommand(withArguments(request.command, request.arguments, shell), shell);
  const { started, ended } = terminal.queue.add({ id: request.id, line, timeoutMs, ifBusy });
  const first = await started;
  const follower =
    request.follow === true ? new Follower(request.id, terminal, program, first.from) : undefined;
  const finished = ended.finally(() => follower?.finish());
  if (request.answer === 'start') {
    void sendEnd(request, terminal, program, finished, first);
    return { type: 'success', id: request.id, terminalId: terminal.facts.terminalId, from: first.from };
  }
  const end = await finished;
  if (end.timedOut) throw timedOut(timeoutMs, end);
  const { text, omitted } = terminal.output.tail(
    end.from,
    end.cursor,
    request.maxChars ?? DEFAULT_OUTPUT_CHARS,
  );
  return {
    type: 'success',
    id: request.id,
    terminalId: terminal.facts.terminalId,
    exitCode: end.exitCode,
    output: text,
    omitted,
    from: end.from,
    cursor: end.cursor,
  };
}

async function sendEnd(
  request: ExecuteRequest,
  terminal: BridgeTerminal,
  program: Program,
  finished: Promise<EditorExecution>,
  first: EditorExecution,
): Promise<void> {
  const message: Omit<EditorMessageOf<'execution_ended'>, 'exitCode' | 'timedOut' | 'cursor'> = {
    type: 'execution_ended',
    id: request.id,
    terminalId: terminal.facts.terminalId,
    from: first.from,
  };
  try {
    const { exitCode, timedOut, cursor } = await finished;
    await program.send({ ...message, exitCode, timedOut, cursor });
  } catch {
    // It never began, or its terminal is gone, which programs are told besides.
    await program.send({ ...message, exitCode: null, timedOut: false, cursor: terminal.output.end });
  }
}

function timedOut(timeoutMs: number, { from, cursor }: EditorExecution): EditorError {
  return new EditorError(
    'TIMED_OUT',
    `The command has not ended within ${timeoutMs / 1000} s, and was interrupted.`,
    'Read its output by the cursor; give more time with timeoutMs, or do not wait for its end: answer "start".',
    { from, cursor },
  );
}
