import { realpath } from 'node:fs/promises';
import type { Clock } from '../base/clock.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { DisposableStore } from '../base/lifecycle.js';
import { oneLine, someNames } from '../base/text.js';
import { isWithin } from '../projects/path-in-project.js';
import { readEditorWindows, type EditorWindow } from './discovery.js';
import { EditorConnection, newEditorRequestId } from './editor-connection.js';
import { unreachable, untrusted } from './editor-fault.js';
import type { EditorTerminal } from './protocol.js';

/** More windows than a person has open; each is asked at once. */
const MAX_WINDOWS = 32;
const CONNECT_LIMIT_MS = 5_000;
const LIST_LIMIT_MS = 5_000;
const SHOWN_PATH_CHARS = 400;
const INSTALL =
  'Ask the user to open it in VS Code with the extension Claude Terminal Bridge. list_terminals shows the windows.';

/** Clients cut calls at 60 s: every call of this server is answered before. */
const CALL_LIMIT_MS = 45_000;

/** How much of its time a call has left. */
export class CallTime {
  readonly #clock: Clock;
  readonly #endMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#endMs = clock.monotonicMs() + CALL_LIMIT_MS;
  }

  /** At most `limitMs`, and less when the call is nearly over. */
  leftMs(limitMs = CALL_LIMIT_MS): number {
    return Math.max(0, Math.min(limitMs, this.#endMs - this.#clock.monotonicMs()));
  }
}

/** Who calls a tool. */
export interface EditorCaller {
  /** How the user sees who made a terminal. */
  readonly client: string;
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal;
}

/** The call of a tool, with the time that it has. */
export interface EditorCall extends EditorCaller {
  readonly time: CallTime;
}

/** What one window says of itself. */
export interface AskedWindow {
  readonly window: EditorWindow;
  readonly folders: readonly string[];
  readonly trusted: boolean;
  readonly terminals: readonly EditorTerminal[];
  /** Undefined when it could not be asked: `fault` says why. */
  readonly connection?: EditorConnection;
  readonly fault?: BridgeError;
}

/** The windows of VS Code whose extension listens, and connections to them, one for each call. */
export class EditorWindows {
  readonly #statePath: string;
  readonly #clock: Clock;

  constructor({ statePath, clock }: { readonly statePath: string; readonly clock: Clock }) {
    this.#statePath = statePath;
    this.#clock = clock;
  }

  /**
   * Asks every window for its terminals, the newest first, and gives all to `use`; the connections end with it. A window that
   * does not answer is among them with its fault.
   */
  async withAll<T>(call: EditorCall, use: (asked: readonly AskedWindow[]) => Promise<T>): Promise<T> {
    const windows = (await readEditorWindows(this.#statePath)).slice(0, MAX_WINDOWS);
    const connections = new DisposableStore();
    try {
      return await use(await Promise.all(windows.map((window) => this.#ask(window, call, connections))));
    } finally {
      connections.dispose();
    }
  }

  /**
   * Gives `use` a connection to the window in which `path` is open; the newest of several that answers. Throws EDITOR_NOT_FOUND,
   * EDITOR_UNREACHABLE, EDITOR_VERSION, UNTRUSTED_WORKSPACE.
   */
  async withWindow<T>(
    path: string,
    call: EditorCall,
    use: (connection: EditorConnection) => Promise<T>,
  ): Promise<T> {
    const connection = await this.#connectTo(path, call);
    try {
      return await use(connection);
    } finally {
      connection.dispose();
    }
  }

  /** The error for a folder, or a terminal, when no window is open. */
  noWindow(): BridgeError {
    return new BridgeError(
      'EDITOR_NOT_FOUND',
      'No window of VS Code with the extension Claude Terminal Bridge is open.',
      'Ask the user to open the project in VS Code, with that extension installed, connected, and of the version of the bridge. Or use another tool.',
    );
  }

  async #connectTo(path: string, call: EditorCall): Promise<EditorConnection> {
    const windows = await readEditorWindows(this.#statePath);
    if (windows.length === 0) throw this.noWindow();
    const open = await Promise.all(
      windows.map(async (window) => ({ window, folders: await Promise.all(window.folders.map(realFolder)) })),
    );
    const candidates = windowsWith(open, path);
    if (candidates.length === 0) throw notOpen(path, windows);
    let fault: unknown;
    for (const { window } of candidates) {
      try {
        return await this.#trusted(window, call);
      } catch (error) {
        if (!(error instanceof BridgeError) || error.code !== 'EDITOR_UNREACHABLE') throw error;
        // It may have been loaded again, and an older file is left for a moment.
        fault ??= error;
      }
    }
    throw fault;
  }

  async #trusted(window: EditorWindow, call: EditorCall): Promise<EditorConnection> {
    const { connection, welcome } = await this.#open(window, call);
    if (welcome.trusted) return connection;
    connection.dispose();
    throw untrusted(window);
  }

  async #ask(window: EditorWindow, call: EditorCall, connections: DisposableStore): Promise<AskedWindow> {
    const { folders, trusted } = window;
    try {
      const { connection, welcome } = await this.#open(window, call);
      connections.add(connection);
      const request = { type: 'list_terminals', id: newEditorRequestId('list') } as const;
      const { terminals } = await connection.ask(request, 'terminals', call.time.leftMs(LIST_LIMIT_MS));
      return { window, folders: welcome.folders, trusted: welcome.trusted, terminals, connection };
    } catch (error) {
      if (!(error instanceof BridgeError)) throw error;
      return { window, folders, trusted, terminals: [], fault: error };
    }
  }

  #open(window: EditorWindow, { client, signal, time }: EditorCall) {
    const limitMs = time.leftMs(CONNECT_LIMIT_MS);
    if (limitMs === 0) throw unreachable(window, 'was not reached in the time of the call');
    return EditorConnection.open(window, { client, clock: this.#clock, limitMs, signal });
  }
}

function notOpen(path: string, windows: readonly EditorWindow[]): BridgeError {
  const folders = [...new Set(windows.flatMap((window) => window.folders))];
  return new BridgeError(
    'EDITOR_NOT_FOUND',
    `No window of VS Code has '${oneLine(path, SHOWN_PATH_CHARS)}' open. Open are: ${folders.length === 0 ? 'windows without a folder' : someNames(folders)}`,
    INSTALL,
  );
}

/** As it is when it cannot be reached: then it holds no project. */
async function realFolder(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return path;
  }
}

/** Those in which `path` is open, the one with the innermost folder first; of two such the order stays. */
function windowsWith<Window extends { readonly folders: readonly string[] }>(
  windows: readonly Window[],
  path: string,
): Window[] {
  return windows
    .map((window) => ({ window, depth: depthOf(window, path) }))
    .filter(({ depth }) => depth > 0)
    .sort((a, b) => b.depth - a.depth)
    .map(({ window }) => window);
}

/** The length of the innermost folder that holds the path; 0 without one. */
function depthOf({ folders }: { readonly folders: readonly string[] }, path: string): number {
  return Math.max(0, ...folders.filter((folder) => isWithin(path, folder)).map((folder) => folder.length));
}
