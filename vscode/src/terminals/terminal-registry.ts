// Pure.
import { Emitter, type Event } from '../../../src/base/event.js';
import { DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
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
  readonly #added = this.#owned.add(new Emitter<BridgeTerminal>());
  readonly onAdded: Event<BridgeTerminal> = this.#added.event;
  readonly #terminals = new Map<string, BridgeTerminal>();
  /** Ids of those that are being made. */
  readonly #making = new Set<string>();
  /** Who closes them by us, until they are gone. */
  readonly #closing = new Map<string, TerminalClosed['by']>();

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
      this.add(made);
      return made;
    } finally {
      this.#making.delete(request.id);
    }
  }

  add(terminal: BridgeTerminal): void {
    this.#terminals.set(terminal.facts.terminalId, terminal);
    terminal.shown.processId.then(
      (pid) => {
        terminal.pid ??= pid;
        if (this.#terminals.get(terminal.facts.terminalId) === terminal) this.#added.fire(terminal);
      },
      () => undefined,
    );
  }

  /** For a program. Throws TERMINAL_NOT_FOUND. */
  close(id: string): void {
    const terminal = this.get(id);
    this.#closing.set(id, 'program');
    terminal.shown.dispose();
  }

  /** For the person, by a command. Throws TERMINAL_NOT_FOUND. */
  closeByPerson(id: string): void {
    const terminal = this.get(id);
    this.#closing.set(id, 'person');
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

  /** The terminals stay: the next window adopts them. */
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
    const by = this.#closing.get(id) ?? closers[status?.reason ?? 0] ?? 'editor';
    this.#closing.delete(id);
    this.#closed.fire({ type: 'terminal_closed', terminalId: id, by, exitCode: status?.code ?? null });
  }
}
