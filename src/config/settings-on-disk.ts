import { realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile } from '../base/files/atomic-file.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { makeFolders } from '../base/files/make-folders.js';
import { readTextFile } from './read-text-file.js';

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

export interface SettingsOnDisk {
  /** Empty when there is no file yet. */
  readonly text: string;
  /** Undefined when there is no file yet. */
  readonly mode?: number;
}

/** The file as it is, of at most `maxBytes` or the size of a person's settings. Throws CONFIG_ERROR for one that cannot be read, or is no regular file. */
export async function readSettings(path: string, maxBytes?: number): Promise<SettingsOnDisk> {
  const file = await readTextFile(path, maxBytes);
  if (file.kind === 'missing') return { text: '' };
  if (file.kind === 'text') return { text: file.text, mode: file.mode };
  throw leftAsItIs(`${path}: the file ${file.error}`);
}

/** Writes the whole file or nothing; for a link, its target is written. Missing folders are created for the owner only. */
export async function writeSettings(path: string, text: string, mode: number = PRIVATE_FILE): Promise<void> {
  await makeFolders(dirname(path), PRIVATE_FOLDER);
  await replaceFile(await linkTarget(path), text, { mode, durable: true });
}

/** Settings are often a link into a folder of dotfiles. A name that is still free is its own target. */
async function linkTarget(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    return path;
  }
}

/** The error of a file that is left as it is. */
export function leftAsItIs(error: string): BridgeError {
  return new BridgeError('CONFIG_ERROR', error, 'The file was not changed. Correct it, then try again.');
}
