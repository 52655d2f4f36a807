import type { Clock } from '../base/clock.js';
import { BridgeError } from '../base/errors.js';
import { countedNoun, oneLine } from '../base/text.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import {
  editorCall,
  newId,
  type EditorCall,
  type EditorCaller,
  type EditorConnection,
} from './editor-connection.js';
import { noWindow, unreachable, untrusted } from './editor-fault.js';
import { terminalsOf, withAllWindows, withWindow, type AskedWindow } from './editor-windows.js';
import type { EditorTerminal } from './protocol.js';
import { readTerminal, type ReadOutcome, type ReadQuery } from './read-terminal.js';
import {
  runCommand,
  typeInput,
  type CommandOutcome,
  type CommandQuery,
  type InputQuery,
} from './run-command.js';

const CLOSE_LIMIT_MS = 10_000;
/** What is left of a call's time after a terminal was made. */
const AFTER_MAKING_MS = 5_000;
/** A terminal of which the server remembers that it made it. */
const MAX_REMEMBERED = 200;
const SHOWN_ID_CHARS = 60;

export interface CreateQuery {
  /** A folder; the window that has it open makes the terminal. The folder where the terminal begins, without one. */
  readonly path?: string | undefined;
  readonly cwd?: string | undefined;
  readonly name?: string | undefined;
  readonly shell?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

export interface MadeTerminal {
  readonly terminalId: string;
  readonly terminalName: string;
  readonly shell: string | null;
  readonly cwd: string;
}

export interface ExecuteQuery extends CommandQuery {
  /** Without it: an idle terminal that this server made in the project, or a new one. */
  readonly terminalId: string | undefined;
  readonly path: string | undefined;
}

export interface EditorTerminalsOptions {
  readonly statePath: string;
  readonly clock: Clock;
  readonly project: Pick<ActiveProject, 'resolve'>;
  readonly roots: Pick<AllowedRoots, 'resolve'>;
}

/** What the tools do with terminals of VS Code. Its methods throw BridgeError. */
export class EditorTerminals {
  readonly #options: EditorTerminalsOptions;
  /** The folders of terminals that this server made, by their ids. */
  readonly #made = new Map<string, string>();

  constructor(options: EditorTerminalsOptions) {
    this.#options = options;
  }

  /** Every window, the newest first, with its terminals. */
  async list(caller: EditorCaller): Promise<readonly AskedWindow[]> {
    return withAllWindows(this.#options.statePath, this.#begin(caller), async (asked) => asked);
  }

  /** Throws what AllowedRoots throws for the folders, EDITOR_NOT_FOUND, UNTRUSTED_WORKSPACE and what the extension refuses. */
  async create(query: CreateQuery, caller: EditorCaller): Promise<MadeTerminal> {
    const call = this.#begin(caller);
    const { project } = this.#options;
    const { path = query.cwd, cwd } = query;
    const folder = await project.resolve(path, query.path === undefined ? 'cwd' : 'path');
    const begins = cwd === undefined ? folder : await project.resolve(cwd, 'cwd');
    return withWindow(this.#options.statePath, folder, call, (connection) =>
      this.#make(connection, { ...query, cwd: begins }),
    );
  }

  /** Throws as `create`, and TERMINAL_NOT_FOUND, TERMINAL_BUSY, TERMINAL_CLOSED; PATH_NOT_ALLOWED for a terminal of another folder. */
  async execute(query: ExecuteQuery, caller: EditorCaller): Promise<CommandOutcome> {
    const call = this.#begin(caller);
    const { terminalId } = query;
    if (terminalId !== undefined) {
      return this.#withTerminal(terminalId, call, async (connection, { window, trusted }) => {
        if (!trusted) throw untrusted(window);
        return runCommand(connection, terminalId, query);
      });
    }
    const folder = await this.#options.project.resolve(query.path);
    return withWindow(this.#options.statePath, folder, call, async (connection) => {
      const terminal = await this.#idleTerminal(connection, folder);
      return runCommand(connection, terminal, query);
    });
  }

  /** Types into what runs in a terminal. Throws INVALID_ARGUMENTS where nothing runs, and as `execute`. */
  async type(
    { terminalId, ...query }: InputQuery & { readonly terminalId: string },
    caller: EditorCaller,
  ): Promise<CommandOutcome> {
    const call = this.#begin(caller);
    return this.#withTerminal(terminalId, call, async (connection, { window, trusted }, terminal) => {
      if (!trusted) throw untrusted(window);
      return typeInput(connection, terminal, query);
    });
  }

  /** Throws TERMINAL_NOT_FOUND, TERMINAL_CLOSED, PATH_NOT_ALLOWED. */
  async read(query: ReadQuery, caller: EditorCaller): Promise<ReadOutcome> {
    const call = this.#begin(caller);
    return this.#withTerminal(query.terminalId, call, (connection) => readTerminal(connection, query));
  }

  /** Waits until it is gone; `isGone` is false where VS Code takes too long. Throws TERMINAL_NOT_FOUND, PATH_NOT_ALLOWED. */
  async close(
    terminalId: string,
    caller: EditorCaller,
  ): Promise<{ readonly terminal: EditorTerminal; readonly isGone: boolean }> {
    const call = this.#begin(caller);
    return this.#withTerminal(terminalId, call, async (connection, _asked, terminal) => {
      const answers = connection.send({ type: 'close_terminal', terminalId });
      const limitMs = call.leftMs(CLOSE_LIMIT_MS);
      let message = await answers.next(limitMs);
      // The news of its end may come before the answer.
      if (message?.type !== 'terminal_closed') {
        answers.expect(message, 'success', limitMs);
        message = await answers.next(call.leftMs(CLOSE_LIMIT_MS));
      }
      this.#made.delete(terminalId);
      return { terminal, isGone: message?.type === 'terminal_closed' };
    });
  }

  #begin(caller: EditorCaller): EditorCall {
    return editorCall(caller, this.#options.clock);
  }

  async #make(
    connection: EditorConnection,
    { name, shell, cwd, env }: Omit<CreateQuery, 'cwd' | 'path'> & { readonly cwd: string },
  ): Promise<MadeTerminal> {
    const request = {
      ...({ type: 'create_terminal', id: newId('term'), cwd, show: true } as const),
      ...(name !== undefined && { name }),
      ...(shell !== undefined && { shell }),
      ...(env && { env }),
    };
    const limitMs = Math.max(0, connection.call.leftMs() - AFTER_MAKING_MS);
    try {
      const made = await connection.ask(request, 'terminal_created', limitMs);
      const { terminalId, terminalName, shell: path } = made;
      this.#remember(terminalId, cwd);
      return { terminalId, terminalName, shell: path, cwd };
    } catch (error) {
      throw perhapsMade(error, connection);
    }
  }

  async #idleTerminal(connection: EditorConnection, folder: string): Promise<string> {
    const own = (await terminalsOf(connection)).filter(
      ({ terminalId, state, queued }) =>
        this.#made.get(terminalId) === folder && state === 'idle' && queued === 0,
    );
    const newest = own.at(-1);
    if (newest !== undefined) return newest.terminalId;
    const options = { name: undefined, shell: undefined, env: undefined, cwd: folder };
    return (await this.#make(connection, options)).terminalId;
  }

  async #withTerminal<T>(
    terminalId: string,
    call: EditorCall,
    use: (connection: EditorConnection, asked: AskedWindow, terminal: EditorTerminal) => Promise<T>,
  ): Promise<T> {
    return withAllWindows(this.#options.statePath, call, async (windows) => {
      if (windows.length === 0) throw noWindow();
      for (const asked of windows) {
        const terminal = asked.terminals.find((one) => one.terminalId === terminalId);
        if (terminal === undefined || asked.connection === undefined) continue;
        await this.#requireAllowed(terminal, asked);
        return use(asked.connection, asked, terminal);
      }
      throw notFound(terminalId, windows);
    });
  }

  /** A terminal is used where the bridge could have made it. */
  async #requireAllowed({ terminalId, cwd }: EditorTerminal, { folders }: AskedWindow): Promise<void> {
    const folder = cwd ?? folders[0];
    if (folder !== undefined) await this.#options.roots.resolve(folder);
    else {
      throw new BridgeError(
        'PATH_NOT_ALLOWED',
        `It is not known in which folder the terminal ${terminalId} began, so it may be outside the allowed roots.`,
        'Make one with create_terminal.',
      );
    }
  }

  #remember(terminalId: string, folder: string): void {
    this.#made.set(terminalId, folder);
    const [oldest] = this.#made.keys();
    if (this.#made.size > MAX_REMEMBERED && oldest !== undefined) this.#made.delete(oldest);
  }
}

function perhapsMade(error: unknown, { window }: EditorConnection): unknown {
  if (!(error instanceof BridgeError) || error.code !== 'EDITOR_UNREACHABLE') return error;
  return unreachable(
    window,
    'did not say whether the terminal was made',
    'list_terminals shows whether it was.',
  );
}

function notFound(terminalId: string, windows: readonly AskedWindow[]): BridgeError {
  const silent = windows.filter(({ fault }) => fault !== undefined).length;
  const others = silent === 0 ? '' : ` ${countedNoun(silent, 'window')} did not answer.`;
  return new BridgeError(
    'TERMINAL_NOT_FOUND',
    `No terminal in VS Code has the id ${JSON.stringify(oneLine(terminalId, SHOWN_ID_CHARS))}, or it was closed.${others}`,
    'list_terminals shows the terminals there are; create_terminal makes one.',
  );
}
