import type { Clock } from '../../../src/base/clock.js';
import { Emitter, type Event, DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import type { Logger } from '../../../src/base/logger.js';
import type { EditorMessageOf, EditorRequestOf, EditorTerminal } from '../../../src/editor/protocol.js';
import type { Editor, ShownTerminal } from '../editor.js';
import { EditorError } from '../editor-error.js';
import { chosenShell, requireFolder } from './chosen-shell.js';
import { CommandQueue } from './command-queue.js';
import { OutputBuffer } from './output-buffer.js';
import { noIntegration, ShellBackend } from './shell-backend.js';

const MAX_TERMINALS = 32;
export type TerminalClosed = EditorMessageOf<'terminal_closed'>;

/** By `TerminalExitReason` of the editor. */
const closers: Readonly<Record<number, TerminalClosed['by']>> = { 2: 'shell', 3: 'person' };

type CreateRequest = EditorRequestOf<'create_terminal'>;

interface TerminalFacts {
  readonly terminalId: string;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly cwd: string | undefined;
}

/** A terminal that a program made: what it printed, and what is to be run in it. */
export class BridgeTerminal implements Disposable {
  readonly facts: TerminalFacts;
  readonly shown: ShownTerminal;
  readonly backend: ShellBackend;
  readonly output = new OutputBuffer();
  readonly queue: CommandQueue;
  readonly #owned = new DisposableStore();
  /** Of the shell. */
  pid: number | undefined;

  constructor(facts: TerminalFacts, shown: ShownTerminal, backend: ShellBackend, clock: Clock) {
    this.facts = facts;
    this.shown = shown;
    this.backend = this.#owned.add(backend);
    this.#owned.add(backend.onOutput((text) => this.output.append(text)));
    this.queue = this.#owned.add(new CommandQueue(backend, this.output, clock));
  }

  /** As programs see it. */
  describe(): EditorTerminal {
    const { terminalId, createdBy, createdAt, cwd } = this.facts;
    return {
      terminalId,
      terminalName: this.shown.name,
      createdBy,
      createdAt,
      shell: this.backend.shell ?? null,
      cwd: cwd ?? null,
      pid: this.pid ?? null,
      state: this.queue.isBusy ? 'busy' : 'idle',
      queued: this.queue.length,
      cursor: this.output.end,
      execution: this.queue.execution ?? null,
    };
  }

  dispose(): void {
    this.#owned.dispose();
  }
}

export interface RegistryOptions {
  readonly editor: Editor;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where a shell is looked for. */
  readonly searchPath: string;
}

/** The terminals of this window that programs made, by their ids. */
export class TerminalRegistry implements Disposable {
  readonly #options: RegistryOptions;
  readonly #owned = new DisposableStore();
  readonly #closed = this.#owned.add(new Emitter<TerminalClosed>());
  readonly onClosed: Event<TerminalClosed> = this.#closed.event;
  readonly #terminals = new Map<string, BridgeTerminal>();
  /** Ids of those that are being made. */
  readonly #making = new Set<string>();
  /** Those that a program closes, until they are gone. */
  readonly #closing = new Set<string>();

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#owned.add(options.editor.onDidCloseTerminal((shown) => this.#gone(shown)));
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

  /** Throws UNTRUSTED_WORKSPACE, TERMINAL_EXISTS, TOO_MANY, SHELL_NOT_FOUND, FOLDER_NOT_FOUND, NO_SHELL_INTEGRATION and TERMINAL_CLOSED. */
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
      const made = await this.#make(request, client);
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
    if (this.#options.editor.isTrusted()) return;
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

  /** With the name of the program in it. Where it throws, nothing is left. */
  async #make(request: CreateRequest, client: string): Promise<BridgeTerminal> {
    const { editor, searchPath, clock, logger } = this.#options;
    const shell = await chosenShell(request.shell, editor, searchPath);
    const cwd = request.cwd ?? editor.folders()[0];
    if (cwd !== undefined) await requireFolder(cwd);
    if (!editor.hasShellIntegration())
      throw noIntegration('Shell integration is switched off in the editor.');
    const shown = editor.createTerminal({
      name: `${request.name ?? 'Terminal'} (${client})`,
      cwd,
      message: `Made by ${client} through Claude Terminal Bridge. Close it to take it away.`,
      env: request.env,
      ...(shell.isDefault ? {} : { shellPath: shell.path, shellArgs: shell.args }),
    });
    if (request.show !== false) shown.show(true);
    const backend = new ShellBackend({ editor, terminal: shown, shell: shell.path, clock, logger });
    const createdAt = new Date(clock.now()).toISOString();
    const facts = { terminalId: request.id, createdBy: client, createdAt, cwd };
    const terminal = new BridgeTerminal(facts, shown, backend, clock);
    try {
      await backend.ready();
      await backend.freshPrompt();
      return terminal;
    } catch (error) {
      terminal.dispose();
      shown.dispose();
      throw error;
    }
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
