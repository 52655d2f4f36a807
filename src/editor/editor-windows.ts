import { realpath } from 'node:fs/promises';
import { BridgeError, ignoreSystemError } from '../base/errors.js';
import { DisposableStore } from '../base/lifecycle.js';
import { oneLine, someNames } from '../base/text.js';
import { isWithin } from '../projects/path-in-project.js';
import { readEditorWindows, type EditorWindow } from './discovery.js';
import { EditorConnection, type EditorCall } from './editor-connection.js';
import { noWindow, unreachable, untrusted } from './editor-fault.js';
import type { EditorTerminal } from './protocol.js';

/** More windows than a person has open; each is asked at once. */
const MAX_WINDOWS = 32;
const CONNECT_LIMIT_MS = 5_000;
const LIST_LIMIT_MS = 5_000;
const SHOWN_PATH_CHARS = 400;
const INSTALL =
  'Ask the user to open it in VS Code with the extension Claude Terminal Bridge. list_terminals shows the windows.';

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

/**
 * Asks every window whose extension listens for its terminals, the newest first, and gives all to `use`; the connections end with it. A
 * window that does not answer is among them with its fault.
 */
export async function withAllWindows<T>(
  statePath: string,
  call: EditorCall,
  use: (asked: readonly AskedWindow[]) => Promise<T>,
): Promise<T> {
  const windows = (await readEditorWindows(statePath)).slice(0, MAX_WINDOWS);
  const connections = new DisposableStore();
  try {
    return await use(await Promise.all(windows.map((window) => ask(window, call, connections))));
  } finally {
    connections.dispose();
  }
}

/**
 * Gives `use` a connection to the window in which `path` is open; the newest of several that answers. Throws EDITOR_NOT_FOUND,
 * EDITOR_UNREACHABLE, EDITOR_VERSION, UNTRUSTED_WORKSPACE.
 */
export async function withWindow<T>(
  statePath: string,
  path: string,
  call: EditorCall,
  use: (connection: EditorConnection) => Promise<T>,
): Promise<T> {
  const connection = await connectTo(await readEditorWindows(statePath), path, call);
  try {
    return await use(connection);
  } finally {
    connection.dispose();
  }
}

async function connectTo(
  windows: readonly EditorWindow[],
  path: string,
  call: EditorCall,
): Promise<EditorConnection> {
  if (windows.length === 0) throw noWindow();
  let fault: BridgeError | undefined;
  for (const window of await windowsWith(windows, path)) {
    try {
      const { connection, welcome } = await open(window, call);
      if (welcome.trusted) return connection;
      connection.dispose();
      throw untrusted(window);
    } catch (error) {
      if (!(error instanceof BridgeError) || error.code !== 'EDITOR_UNREACHABLE') throw error;
      // It may have been loaded again, and an older file is left for a moment.
      fault ??= error;
    }
  }
  throw fault ?? notOpen(path, windows);
}

async function ask(
  window: EditorWindow,
  call: EditorCall,
  connections: DisposableStore,
): Promise<AskedWindow> {
  const { folders, trusted } = window;
  try {
    const { connection, welcome } = await open(window, call);
    connections.add(connection);
    const terminals = await terminalsOf(connection);
    return { window, folders: welcome.folders, trusted: welcome.trusted, terminals, connection };
  } catch (error) {
    if (!(error instanceof BridgeError)) throw error;
    return { window, folders, trusted, terminals: [], fault: error };
  }
}

function open(window: EditorWindow, call: EditorCall) {
  const limitMs = call.leftMs(CONNECT_LIMIT_MS);
  if (limitMs === 0) throw unreachable(window, 'was not reached in the time of the call');
  return EditorConnection.open(window, call, limitMs);
}

/** Throws as `EditorConnection.ask`. */
export async function terminalsOf(connection: EditorConnection): Promise<readonly EditorTerminal[]> {
  const limitMs = connection.call.leftMs(LIST_LIMIT_MS);
  return (await connection.ask({ type: 'list_terminals' }, 'terminals', limitMs)).terminals;
}

function notOpen(path: string, windows: readonly EditorWindow[]): BridgeError {
  const folders = [...new Set(windows.flatMap((window) => window.folders))];
  return new BridgeError(
    'EDITOR_NOT_FOUND',
    `No window of VS Code has '${oneLine(path, SHOWN_PATH_CHARS)}' open. Open are: ${folders.length === 0 ? 'windows without a folder' : someNames(folders)}`,
    INSTALL,
  );
}

/** Those in which `path` is open, the one with the innermost folder first; of two such the order stays. */
async function windowsWith(windows: readonly EditorWindow[], path: string): Promise<EditorWindow[]> {
  const open = await Promise.all(
    windows.map(async (window) => {
      const folders = await Promise.all(window.folders.map(realFolder));
      const depths = folders.filter((folder) => isWithin(path, folder)).map(({ length }) => length);
      return { window, depth: Math.max(0, ...depths) };
    }),
  );
  const within = open.filter(({ depth }) => depth > 0);
  return within.sort((a, b) => b.depth - a.depth).map(({ window }) => window);
}

/** As it is when it cannot be reached: then it holds no project. */
async function realFolder(path: string): Promise<string> {
  return (await realpath(path).catch(ignoreSystemError)) ?? path;
}
