// Pure.
import { sleep, withinMs, type Clock } from '../../../src/base/clock.js';
import {
  DEFAULT_OUTPUT_CHARS,
  DEFAULT_TIMEOUT_MS,
  type EditorMessage,
  type EditorRequest,
  type EditorRequestOf,
} from '../../../src/editor/protocol.js';
import type { Program } from '../connection/client.js';
import { EditorError } from '../editor-error.js';
import type { BridgeTerminal } from '../terminals/bridge-terminal.js';
import type { TerminalRegistry } from '../terminals/terminal-registry.js';
import { execute } from './execute.js';
import { Follower } from './follower.js';
import { outputMessage } from './output-message.js';

const MAX_FOLLOWED = 32;

/** Does what programs ask for. */
export class Requests {
  readonly #registry: TerminalRegistry;
  readonly #clock: Clock;
  /** Of each program, by the id of the terminal. */
  readonly #followers = new WeakMap<Program, Map<string, Follower>>();

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
      case 'follow_output':
        return this.#follow(request, program);
      case 'unfollow_output':
        this.#followersOf(program).get(request.terminalId)?.stop();
        this.#followersOf(program).delete(request.terminalId);
        return done(request);
      case 'wait_for_prompt':
        return this.#waitForPrompt(request);
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

  #follow(request: EditorRequestOf<'follow_output'>, program: Program): EditorMessage {
    const terminal = this.#registry.get(request.terminalId);
    const followers = this.#followersOf(program);
    followers.get(request.terminalId)?.stop();
    if (followers.size >= MAX_FOLLOWED && !followers.has(request.terminalId))
      throw new EditorError(
        'TOO_MANY',
        `${MAX_FOLLOWED} terminals are followed.`,
        'Send unfollow_output first.',
      );
    const cursor = request.cursor ?? terminal.output.end;
    followers.set(request.terminalId, new Follower(request.id, terminal, program, cursor));
    return { ...done(request), cursor };
  }

  async #waitForPrompt(request: EditorRequestOf<'wait_for_prompt'>): Promise<EditorMessage> {
    const { backend, queue, output } = this.#registry.get(request.terminalId);
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = request;
    const deadline = this.#clock.monotonicMs() + timeoutMs;
    const isReady = await withinMs(
      this.#clock,
      timeoutMs,
      backend.ready().then(() => true),
    );
    if (isReady === true && (await queue.idle(deadline - this.#clock.monotonicMs())))
      return { ...done(request), cursor: output.end };
    throw new EditorError(
      'TIMED_OUT',
      `The terminal was not ready within ${timeoutMs / 1000} s.`,
      'See what it does with read_output.',
    );
  }

  #followersOf(program: Program): Map<string, Follower> {
    let followers = this.#followers.get(program);
    if (followers === undefined) {
      followers = new Map();
      this.#followers.set(program, followers);
    }
    return followers;
  }
}

function done(request: { readonly id: string; readonly terminalId: string }): {
  readonly type: 'success';
  readonly id: string;
  readonly terminalId: string;
} {
  return { type: 'success', id: request.id, terminalId: request.terminalId };
}
