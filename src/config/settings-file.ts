import { existsSync } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BridgeError, ignoreMissing, systemCodeOf } from '../base/errors.js';
import { replaceFile, makeFolders } from '../base/files/folders.js';
import { readRegularFile } from '../base/files/regular-file.js';
import { oneLine } from '../base/text.js';
import { parseSettingsText, type SettingsEntry } from './json-text.js';
import { defaultSettingsPath, expandHome } from './places.js';

export const SETTINGS_FILE_VARIABLE = 'MCP_CLAUDE_BRIDGE_CONFIG';
const SHOWN_CHARS = 400;
const WRITABLE_BY_OTHERS = 0o002;
/** A person's settings are a few kilobytes; more is another kind of file. */
const MAX_SETTINGS_BYTES = 1_048_576;
const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;

export interface SettingsFileSearch {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly homeDir: string;
  /** What `--config` named. */
  readonly configPath?: string | undefined;
}

/**
 * The settings file: the one that `--config` names, else the one that the environment names, else the default one; undefined when there is
 * none, or none that can be read. Adds to `errors` and `warnings`. A named file that is missing is an error: another file would not be the
 * one that the user asked for.
 */
export async function findSettingsFile(
  { env, cwd, homeDir, configPath }: SettingsFileSearch,
  errors: string[],
  warnings: string[],
): Promise<{ readonly path: string; readonly text: string } | undefined> {
  const name = configPath ?? env[SETTINGS_FILE_VARIABLE];
  const by = configPath === undefined ? `environment variable ${SETTINGS_FILE_VARIABLE}` : 'flag --config';
  const given = name === undefined ? undefined : expandHome(name, homeDir);
  if (given !== undefined && (given === '' || given.includes('\0') || /^~[^/]/.test(given))) {
    const found = oneLine(JSON.stringify(name), SHOWN_CHARS);
    errors.push(
      `${by}: found ${found}, expected the path of a settings file (~/ is your home folder; ~name is not supported)`,
    );
    return undefined;
  }
  const path = given === undefined ? defaultSettingsPath(homeDir) : resolve(cwd, given);
  const shownPath = oneLine(path, SHOWN_CHARS);
  const file = await readTextFile(path);
  // A checkout must not choose the command that runs, so the file in the start folder counts only when the user names it.
  const unused = join(cwd, 'config.json');
  if (unused !== path && existsSync(unused)) {
    const shown = oneLine(unused, SHOWN_CHARS);
    warnings.push(
      `${shown} is ignored: a settings file in the start folder is read only when it is named, with --config ${shown} or ${SETTINGS_FILE_VARIABLE}=${shown}.`,
    );
  }
  if (file.kind === 'text') {
    if (file.mode & WRITABLE_BY_OTHERS)
      warnings.push(
        `${shownPath} is writable by every user of this machine, so any of them can choose the command that runs. Remove that permission with chmod o-w.`,
      );
    return { path, text: file.text };
  }
  if (file.kind === 'missing' && given === undefined) return undefined;
  const state = file.kind === 'error' ? file.error : 'found no file';
  errors.push(
    `${shownPath}${given === undefined ? '' : ` (named by ${by})`}: ${state}, expected a readable file of JSON`,
  );
  return undefined;
}

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
  throw leftAsItIs(`${path}: ${file.error}`);
}

/**
 * The file and its entries; none while it is missing or empty. Throws CONFIG_ERROR for one that cannot be used, with its faults, a line
 * each.
 */
export async function readEntries(
  path: string,
): Promise<SettingsOnDisk & { readonly entries: readonly SettingsEntry[] }> {
  const file = await readSettings(path);
  if (file.text.trim() === '') return { ...file, entries: [] };
  const parsed = parseSettingsText(file.text);
  if (parsed.kind === 'entries') return { ...file, entries: parsed.entries };
  throw leftAsItIs(parsed.errors.map(({ line, words }) => `${path}:${line}: ${words}`).join('\n'));
}

/** Writes the whole file or nothing; for a link, its target is written. Missing folders are created for the owner only. */
export async function writeSettings(path: string, text: string, mode: number = PRIVATE_FILE): Promise<void> {
  await makeFolders(dirname(path), PRIVATE_FOLDER);
  await replaceFile(await linkTarget(path), text, { mode, durable: true });
}

/** Settings are often a link into a folder of dotfiles. A name that is still free is its own target. */
async function linkTarget(path: string): Promise<string> {
  return (await realpath(path).catch(ignoreMissing)) ?? path;
}

/** The error of a file that is left as it is. */
export function leftAsItIs(error: string): BridgeError {
  return new BridgeError('CONFIG_ERROR', error, 'The file was not changed. Correct it, then try again.');
}

type TextFile =
  | { readonly kind: 'text'; readonly text: string; readonly mode: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'error'; readonly error: string };

/** Reads a regular file of at most `maxBytes` as UTF-8, with its byte order mark. */
async function readTextFile(path: string, maxBytes = MAX_SETTINGS_BYTES): Promise<TextFile> {
  try {
    const read = await readRegularFile(path, maxBytes);
    if (read.state === 'missing') return { kind: 'missing' };
    if (read.state === 'refused') return { kind: 'error', error: read.why };
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return { kind: 'text', text: decoder.decode(read.bytes), mode: (await stat(path)).mode & 0o777 };
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    const isText = code !== 'ERR_ENCODING_INVALID_ENCODED_DATA';
    return { kind: 'error', error: isText ? `it cannot be read (${code})` : 'it is not UTF-8 text' };
  }
}
