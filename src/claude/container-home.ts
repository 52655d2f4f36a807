import { chown, lchown, lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ignoreMissing } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { makeFolders } from '../base/files/folders.js';

/** The CLI stores an approved key by this many of its last characters. */
const KEY_TAIL_CHARS = 20;
const OWNER_ONLY = 0o700;

const stateSchema = z.looseObject({
  theme: z.string().optional(),
  customApiKeyResponses: z
    .object({ approved: z.array(z.string()), rejected: z.array(z.string()) })
    .catch({ approved: [], rejected: [] })
    .optional(),
});

export interface ContainerHome {
  /** The folder, created if missing. */
  readonly path: string;
  /** The API key that the user passes in the environment: it counts as approved. */
  readonly apiKey: string | undefined;
  /** The owner of the folder, if this process may set one. */
  readonly owner: { readonly uid: number; readonly gid: number };
}

/**
 * Prepares a home directory for a CLI in a container, with the first start already done: no one could choose colors there. What the
 * CLI stores in it stays for the next task. Throws BridgeError STATE_UNUSABLE.
 */
export async function prepareContainerHome({ path, apiKey, owner }: ContainerHome): Promise<void> {
  await makeFolders(path, OWNER_ONLY);
  const changesOwner = process.getuid?.() === 0 && owner.uid !== 0;
  if (changesOwner) await chown(path, owner.uid, owner.gid);
  const file = join(path, '.claude.json');
  const before = await read(file);
  const keys = before.customApiKeyResponses ?? { approved: [], rejected: [] };
  const tail = apiKey?.slice(-KEY_TAIL_CHARS);
  const isKnown = tail === undefined || keys.approved.includes(tail);
  if (before['hasCompletedOnboarding'] === true && isKnown) return;
  await writeJsonFileAtomically(file, {
    ...before,
    theme: before.theme ?? 'dark',
    hasCompletedOnboarding: true,
    customApiKeyResponses: isKnown ? keys : { ...keys, approved: [...keys.approved, tail] },
  });
  if (changesOwner) await lchown(file, owner.uid, owner.gid);
}

/** The state that an earlier task left. Its container could write anything, even a link, which is not followed. */
async function read(file: string): Promise<z.infer<typeof stateSchema>> {
  if ((await lstat(file).catch(ignoreMissing))?.isFile() !== true) return {};
  const state = await readJsonFile(file, stateSchema);
  return state.state === 'ok' ? state.value : {};
}
