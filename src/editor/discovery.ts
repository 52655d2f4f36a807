import type { Stats } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ignoreMissing } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { createSecret } from '../base/ids.js';
import { ensurePrivateFolder, isPrivate } from '../store/private-folder.js';
import { openStateDir } from '../store/state-dir.js';
import { processState, type ProcessState } from '../store/process-identity.js';
import { processIdentitySchema } from '../store/process-place.js';
import { EDITOR_PROTOCOL } from './protocol.js';

const ID_DIGITS = 16;
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
  return `editor_${createSecret().slice(0, ID_DIGITS)}`;
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
  return (await windowsBy(statePath, 'alive')).map(({ window }) => window);
}

/** Removes the files of windows whose process is certainly gone. */
export async function sweepEditorWindows(statePath: string): Promise<void> {
  for (const { file } of await windowsBy(statePath, 'gone')) await rm(file, { force: true });
}

/** The windows whose process is in that state, and their files. None that another user could have put there. */
async function windowsBy(
  statePath: string,
  state: ProcessState,
): Promise<{ readonly file: string; readonly window: EditorWindow }[]> {
  const folder = editorsFolder(statePath);
  if ((await ownFacts(folder))?.isDirectory() !== true) return [];
  const found: { readonly file: string; readonly window: EditorWindow }[] = [];
  for (const name of await readdir(folder)) {
    const file = join(folder, name);
    if (!FILE_NAME.test(name) || (await ownFacts(file))?.isFile() !== true) continue;
    const read = await readJsonFile(file, editorWindowSchema, MAX_FILE_BYTES);
    if (read.state === 'ok' && (await processState(read.value.owner)) === state)
      found.push({ file, window: read.value });
  }
  return found;
}

/** Undefined for what is not this user's alone, and for a window that was closed in between. */
async function ownFacts(path: string): Promise<Stats | undefined> {
  const facts = await lstat(path).catch(ignoreMissing);
  return facts !== undefined && isPrivate(facts) ? facts : undefined;
}
