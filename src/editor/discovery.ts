import { randomBytes } from 'node:crypto';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { ensurePrivateFolder, isPrivate } from '../store/private-folder.js';
import { openStateDir } from '../store/state-dir.js';
import { processState } from '../store/process-identity.js';
import { processIdentitySchema } from '../store/process-place.js';
import { EDITOR_PROTOCOL } from './protocol.js';

const ID_BYTES = 8;
const FILE_NAME = /^editor_[0-9a-f]{16}\.json$/;
const MAX_FILE_BYTES = 256 * 1024;
const HINT = 'Repair it, or choose another folder with MCP_STATE_DIR and claudeTerminalBridge.stateDir.';

/** `editors/<id>.json`: a window of an editor whose extension listens. It holds a secret. */
export const editorWindowSchema = z.object({
  /** Of the messages. */
  v: z.literal(EDITOR_PROTOCOL),
  id: z.string().regex(/^editor_[0-9a-f]{16}$/),
  /** Of the extension. */
  version: z.string(),
  /** Name and version of the editor. */
  editor: z.string(),
  /** On 127.0.0.1. */
  port: z.int().positive().max(65_535),
  token: z.string().min(1),
  /** The process that listens. */
  owner: processIdentitySchema,
  /** Absolute paths of the workspace's folders on this machine. */
  folders: z.array(z.string()),
  /** Nothing is made or run in an untrusted workspace. */
  trusted: z.boolean(),
  started_at: z.string(),
  /** It is being closed, or loaded again: the next one with its folders takes its port. */
  leaving: z.boolean().optional(),
});
export type EditorWindow = z.infer<typeof editorWindowSchema>;

export function newEditorId(): string {
  return `editor_${randomBytes(ID_BYTES).toString('hex')}`;
}

export function editorsFolder(statePath: string): string {
  return join(statePath, 'editors');
}

export function editorFile(id: string, statePath: string): string {
  return join(editorsFolder(statePath), `${id}.json`);
}

/** Writes or replaces the file of a window, for this user alone. Throws STATE_UNUSABLE. */
export async function writeEditorWindow(window: EditorWindow, statePath: string): Promise<void> {
  await openStateDir({ path: statePath });
  await ensurePrivateFolder(editorsFolder(statePath), process.getuid?.() ?? 0, HINT);
  await writeJsonFileAtomically(editorFile(window.id, statePath), window, {
    durable: false,
    maxBytes: MAX_FILE_BYTES,
  });
}

/**
 * The windows that can be reached, the newest first: of this user, of this version of the messages, and of a process that certainly
 * runs here. After a window was loaded again its old process may live on for a while: of two with the same folders the newer one counts.
 */
export async function readEditorWindows(statePath: string): Promise<EditorWindow[]> {
  const windows = (await livingWindows(statePath)).filter(({ leaving }) => leaving !== true);
  return windows.sort((a, b) => (a.started_at < b.started_at ? 1 : -1));
}

/** The window of this user that has said that it listens at a port. */
export async function windowAtPort(port: number, statePath: string): Promise<EditorWindow | undefined> {
  return (await livingWindows(statePath)).find((window) => window.port === port);
}

async function livingWindows(statePath: string): Promise<EditorWindow[]> {
  const windows: EditorWindow[] = [];
  for (const file of await filesIn(editorsFolder(statePath))) {
    const window = await readWindow(file);
    if (window !== undefined && (await processState(window.owner)) === 'alive') windows.push(window);
  }
  return windows;
}

/** Removes the files of windows whose process is certainly gone. */
export async function sweepEditorWindows(statePath: string): Promise<void> {
  for (const file of await filesIn(editorsFolder(statePath))) {
    const window = await readWindow(file);
    if (window !== undefined && (await processState(window.owner)) === 'gone')
      await rm(file, { force: true });
  }
}

/** None when the folder is not this user's alone: another user could have put them there. */
async function filesIn(folder: string): Promise<string[]> {
  try {
    const facts = await lstat(folder);
    if (!facts.isDirectory() || !isPrivate(facts)) return [];
    return (await readdir(folder)).filter((name) => FILE_NAME.test(name)).map((name) => join(folder, name));
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Undefined for what is not the file of a window, or not this user's alone. */
async function readWindow(file: string): Promise<EditorWindow | undefined> {
  try {
    const facts = await lstat(file);
    if (!facts.isFile() || !isPrivate(facts)) return undefined;
  } catch (error) {
    // Its window was closed in between.
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const read = await readJsonFile(file, editorWindowSchema, MAX_FILE_BYTES);
  return read.state === 'ok' ? read.value : undefined;
}
