// Pure.
import { Emitter, type Event, DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import type { EditorMessageOf } from '../../../src/editor/protocol.js';
import type { Editor, ShownTerminal } from '../editor.js';
import { EditorError } from '../editor-error.js';
import type { BridgeTerminal } from './bridge-terminal.js';
import type { CreateRequest, TerminalMaker } from './terminal-maker.js';

const MAX_TERMINALS = 32;
export type TerminalClosed = EditorMessageOf<'terminal_closed'>;

/** By `TerminalExitReason` of the editor. */
const closers: Readonly<Record<number, TerminalClosed['by']>> = { 2: 'shell', 3: 'person' };

/** The terminals of this window that programs made, by their ids. */
export class TerminalRegistry implements Disposable {
  readonly #editor: Editor;
  readonly #maker: TerminalMaker;
  readonly #owned = new DisposableStore();
  readonly #closed = this.#owned.add(new Emitter<TerminalClosed>());
  readonly onClosed: Event<TerminalClosed> = this.#closed.event;
  readonly #terminals = new Map<string, BridgeTerminal>();
  /** Ids of those that are being made. */
  readonly #making = new Set<string>();
  /** Those that a program closes, until they are gone. */
  readonly #closing = new Set<string>();

  constructor(editor: Editor, maker: TerminalMaker) {
    this.#editor = editor;
    this.#maker = maker;
    this.#owned.add(editor.onDidCloseTerminal((shown) => this.#gone(shown)));
  }

  get all(): readonly BridgeTerminal[] {
    return [...this.#terminals.values()];
  }

  /** Throws TERMINAL_NOT_FOUND. */
  get(id: string): BridgeTerminal {
    const terminal = this.#terminals.get(id);
    if (terminal !== undefined) return terminal;
    throw new EditorError(
      'TERMINAL_NOT_FOUND',
      `No terminal of this window has the id ${JSON.stringify(id)}.`,
      'Create it with create_terminal, or see list_terminals.',
    );
  }

  has(id: string): boolean {
    return this.#terminals.has(id);
  }

  /** Whether it is there and is not being closed. */
  isOpen(id: string): boolean {
    return this.#terminals.has(id) && !this.#closing.has(id);
  }

  /** Throws UNTRUSTED_WORKSPACE, TERMINAL_EXISTS, TOO_MANY, and what the maker throws. */
  async create(request: CreateRequest, client: string): Promise<BridgeTerminal> {
    this.requireTrust();
    if (this.#terminals.has(request.id) || this.#making.has(request.id)) {
      throw new EditorError(
        'TERMINAL_EXISTS',
        `A terminal with the id ${JSON.stringify(request.id)} is there already.`,
        'Use another id.',
      );
    }
    if (this.#terminals.size + this.#making.size >= MAX_TERMINALS)
      throw new EditorError('TOO_MANY', `${MAX_TERMINALS} terminals are open.`, 'Close one first.');
    this.#making.add(request.id);
    try {
      const made = await this.#maker.make(request, client);
      if (made.shown.exitStatus !== undefined || this.#owned.isDisposed) {
        made.dispose();
        throw new EditorError('TERMINAL_CLOSED', 'The terminal was closed at once.', 'Try again.');
      }
      this.#terminals.set(request.id, made);
      made.shown.processId.then(
        (pid) => (made.pid = pid),
        () => undefined,
      );
      return made;
    } finally {
      this.#making.delete(request.id);
    }
  }

  /** For a program. Throws TERMINAL_NOT_FOUND. */
  close(id: string): void {
    const terminal = this.get(id);
    this.#closing.add(id);
    terminal.shown.dispose();
  }

  /** Nothing is made or typed in a workspace that the person has not trusted. Throws UNTRUSTED_WORKSPACE. */
  requireTrust(): void {
    if (this.#editor.isTrusted()) return;
    throw new EditorError(
      'UNTRUSTED_WORKSPACE',
      'The workspace of this window is not trusted, so nothing is created or run in it.',
      'The person trusts it with the command "Workspaces: Manage Workspace Trust".',
    );
  }

  /** The terminals stay: they are the person's now. */
  dispose(): void {
    for (const terminal of this.#terminals.values()) terminal.dispose();
    this.#terminals.clear();
    this.#owned.dispose();
  }

  #gone(shown: ShownTerminal): void {
    const terminal = this.all.find((one) => one.shown === shown);
    if (terminal === undefined) return;
    const id = terminal.facts.terminalId;
    this.#terminals.delete(id);
    terminal.dispose();
    const status = shown.exitStatus;
    const by = this.#closing.delete(id) ? 'program' : (closers[status?.reason ?? 0] ?? 'editor');
    this.#closed.fire({ type: 'terminal_closed', terminalId: id, by, exitCode: status?.code ?? null });
  }
}
