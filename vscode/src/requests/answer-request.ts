// Pure.
import { sleep, type Clock } from '../../../src/base/clock.js';
import {
  DEFAULT_OUTPUT_CHARS,
  DEFAULT_TIMEOUT_MS,
  type EditorExecution,
  type EditorMessage,
  type EditorMessageOf,
  type EditorRequest,
  type EditorRequestOf,
} from '../../../src/editor/protocol.js';
import type { Program } from '../connection/client.js';
import { EditorError } from '../editor-error.js';
import type { BridgeTerminal, TerminalRegistry } from '../terminals/terminal-registry.js';
import { oneLineCommand } from '../terminals/quote.js';

/** Does what programs ask for. */
export class Requests {
  readonly #registry: TerminalRegistry;
  readonly #clock: Clock;

  constructor(registry: TerminalRegistry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  /** Throws EditorError. */
  async answer(request: EditorRequest, program: Program): Promise<EditorMessage> {
    switch (request.type) {
      case 'hello':
        throw new EditorError('INVALID_MESSAGE', 'The program has said hello.', 'Say it once.');
      case 'ping':
        return { type: 'pong', id: request.id };
      case 'create_terminal':
        return this.#create(request, program);
      case 'execute':
        this.#registry.requireTrust();
        return execute(request, await this.#terminalFor(request, program), program);
      case 'input':
        this.#registry.requireTrust();
        this.#registry.get(request.terminalId).backend.type(request.text);
        return done(request);
      case 'read_output':
        return this.#read(request, program);
      case 'list_terminals':
        return {
          type: 'terminals',
          id: request.id,
          terminals: this.#registry.all.map((terminal) => terminal.describe()),
        };
      case 'close_terminal':
        this.#registry.close(request.terminalId);
        return done(request);
    }
  }

  async #create(request: EditorRequestOf<'create_terminal'>, program: Program): Promise<EditorMessage> {
    const terminal = await this.#registry.create(request, program.name);
    program.terminalId = terminal.facts.terminalId;
    return {
      type: 'terminal_created',
      id: request.id,
      terminalId: terminal.facts.terminalId,
      terminalName: terminal.shown.name,
      shell: terminal.backend.shell ?? null,
    };
  }

  /** The one that is named, else the newest of the connection, else a new one. */
  async #terminalFor(request: EditorRequestOf<'execute'>, program: Program): Promise<BridgeTerminal> {
    if (request.terminalId !== undefined) return this.#registry.get(request.terminalId);
    if (program.terminalId !== undefined && this.#registry.isOpen(program.terminalId))
      return this.#registry.get(program.terminalId);
    await this.#create({ type: 'create_terminal', id: request.id }, program);
    return this.#registry.get(request.id);
  }

  async #read(request: EditorRequestOf<'read_output'>, program: Program): Promise<EditorMessage> {
    const terminal = this.#registry.get(request.terminalId);
    const { maxChars = DEFAULT_OUTPUT_CHARS, waitMs = 0 } = request;
    const { output } = terminal;
    const cursor = request.cursor ?? Math.max(0, output.end - maxChars);
    if (waitMs > 0 && cursor >= output.end && terminal.queue.isBusy)
      await this.#outputOrEnd(terminal, waitMs, program.gone);
    return outputMessage(request.id, terminal, cursor, maxChars);
  }

  async #outputOrEnd(terminal: BridgeTerminal, waitMs: number, gone: AbortSignal): Promise<void> {
    const over = new AbortController();
    const stop = (): void => over.abort();
    const subscriptions = [terminal.output.onAppend(stop), this.#registry.onClosed(stop)];
    gone.addEventListener('abort', stop, { signal: over.signal });
    void terminal.queue.idle(waitMs).then(stop, stop);
    try {
      await sleep(this.#clock, waitMs, over.signal);
    } finally {
      over.abort();
      for (const subscription of subscriptions) subscription.dispose();
    }
  }
}

/** What a terminal printed after a cursor. */
function outputMessage(
  id: string,
  { facts, output, queue }: BridgeTerminal,
  cursor: number,
  maxChars: number,
): EditorMessageOf<'output'> {
  const piece = output.read(cursor, maxChars);
  return {
    type: 'output',
    id,
    terminalId: facts.terminalId,
    ...piece,
    more: piece.cursor < output.end,
    state: queue.isBusy ? 'busy' : 'idle',
    execution: queue.execution ?? null,
  };
}

function done({ id, terminalId }: { readonly id: string; readonly terminalId: string }): EditorMessage {
  return { type: 'success', id, terminalId };
}

type ExecuteRequest = EditorRequestOf<'execute'>;

/** Runs a command in a terminal. Throws TERMINAL_BUSY, NOT_SUPPORTED, NOT_STARTED, TIMED_OUT and TERMINAL_CLOSED. */
async function execute(
  request: ExecuteRequest,
  terminal: BridgeTerminal,
  program: Program,
): Promise<EditorMessage> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, ifBusy = 'queue' } = request;
  const shell = terminal.backend.shell ?? '';
  const line = oneLineCommand(request.command, shell);
  const { started, ended } = terminal.queue.add({ id: request.id, line, timeoutMs, ifBusy });
  const first = await started;
  if (request.answer === 'start') {
    void sendEnd(request, terminal, program, ended, first);
    return { type: 'success', id: request.id, terminalId: terminal.facts.terminalId, from: first.from };
  }
  const end = await ended;
  if (end.timedOut) throw timedOut(timeoutMs, end);
  const maxChars = request.maxChars ?? DEFAULT_OUTPUT_CHARS;
  const { text, omitted } = terminal.output.tail(end.from, end.cursor, maxChars);
  return {
    type: 'success',
    ...{ id: request.id, terminalId: terminal.facts.terminalId, exitCode: end.exitCode },
    ...{ output: text, omitted, from: end.from, cursor: end.cursor },
  };
}

async function sendEnd(
  request: ExecuteRequest,
  terminal: BridgeTerminal,
  program: Program,
  ended: Promise<EditorExecution>,
  first: EditorExecution,
): Promise<void> {
  const message: Omit<EditorMessageOf<'execution_ended'>, 'exitCode' | 'timedOut' | 'cursor'> = {
    type: 'execution_ended',
    id: request.id,
    terminalId: terminal.facts.terminalId,
    from: first.from,
  };
  try {
    const { exitCode, timedOut, cursor } = await ended;
    await program.send({ ...message, exitCode, timedOut, cursor });
  } catch {
    // It never began, or its terminal is gone, which programs learn besides.
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
