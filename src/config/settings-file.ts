import { constants, existsSync } from 'node:fs';
import { open, realpath, type FileHandle } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { replaceFile, makeFolders } from '../base/files/folders.js';
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

export type FoundSettingsFile =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'error'; readonly error: string };

/**
 * The settings file: the one that `--config` names, else the one that the environment names, else the default one if it is
 * there. A named file that is missing is an error: another file would not be the one that the user asked for.
 */
export async function findSettingsFile(
  search: SettingsFileSearch,
  warn: (warning: string) => void,
): Promise<FoundSettingsFile> {
  const named = namedFile(search);
  if (named?.error !== undefined) return { kind: 'error', error: named.error };
  const path = named?.path ?? defaultSettingsPath(search.homeDir);
  const shownPath = oneLine(path, SHOWN_CHARS);
  const file = await readTextFile(path);
  warnOfUnusedFile(search, path, warn);
  if (file.kind === 'text') {
    if (file.mode & WRITABLE_BY_OTHERS) {
      warn(
        `${shownPath} is writable by every user of this machine, so any of them can choose the command that runs. Remove that permission with chmod o-w.`,
      );
    }
    return { kind: 'file', path, text: file.text };
  }
  if (file.kind === 'missing' && named === undefined) return { kind: 'none' };
  const by = named === undefined ? '' : ` (named by ${named.by})`;
  const state = file.kind === 'error' ? `the settings file ${file.error}` : 'found no file';
  return { kind: 'error', error: `${shownPath}${by}: ${state}, expected a readable file of JSON` };
}

type NamedFile =
  { readonly path: string; readonly by: string; readonly error?: undefined } | { readonly error: string };

function namedFile(search: SettingsFileSearch): NamedFile | undefined {
  const inEnvironment = search.env[SETTINGS_FILE_VARIABLE];
  const [name, by] =
    search.configPath === undefined
      ? [inEnvironment, `environment variable ${SETTINGS_FILE_VARIABLE}`]
      : [search.configPath, 'flag --config'];
  if (name === undefined) return undefined;
  const path = expandHome(name, search.homeDir);
  if (path === '' || path.includes('\0') || /^~[^/]/.test(path)) {
    const shownName = oneLine(JSON.stringify(name), SHOWN_CHARS);
    return {
      error: `${by}: found ${shownName}, expected the path of a settings file (~/ is your home folder; ~name is not supported)`,
    };
  }
  return { path: resolve(search.cwd, path), by };
}

/** A checkout must not choose the command that runs, so the file in the start folder counts only when the user names it. */
function warnOfUnusedFile(search: SettingsFileSearch, used: string, warn: (warning: string) => void): void {
  const unused = join(search.cwd, 'config.json');
  if (unused === used || !existsSync(unused)) return;
  const shownPath = oneLine(unused, SHOWN_CHARS);
  warn(
    `${shownPath} is ignored: a settings file in the start folder is read only when it is named, with --config ${shownPath} or ${SETTINGS_FILE_VARIABLE}=${shownPath}.`,
  );
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
  throw leftAsItIs(`${path}: the file ${file.error}`);
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

type TextFile =
  | { readonly kind: 'text'; readonly text: string; readonly mode: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'error'; readonly error: string };

/**
 * Reads a regular file of at most `maxBytes` as UTF-8, with its byte order mark. A pipe or device is refused
 * before anything is read from it: it is opened without blocking, and its descriptor is asked what it is.
 */
async function readTextFile(path: string, maxBytes = MAX_SETTINGS_BYTES): Promise<TextFile> {
  let file: FileHandle;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    // What a socket answers to being opened.
    if (code === 'ENXIO') return { kind: 'error', error: 'is not a regular file' };
    return { kind: 'error', error: `cannot be opened (${code})` };
  }
  try {
    return await readRegular(file, maxBytes);
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return { kind: 'error', error: `cannot be read (${code})` };
  } finally {
    await file.close();
  }
}

async function readRegular(file: FileHandle, maxBytes: number): Promise<TextFile> {
  const facts = await file.stat();
  if (facts.isDirectory()) return { kind: 'error', error: 'is a folder, not a file' };
  if (!facts.isFile()) return { kind: 'error', error: 'is not a regular file' };
  const chunks: Buffer[] = [];
  // One byte more than allowed shows a file that is larger than its size said, or grew.
  const stream: AsyncIterable<Buffer> = file.createReadStream({ start: 0, end: maxBytes, autoClose: false });
  for await (const chunk of stream) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  if (bytes.length > maxBytes) return { kind: 'error', error: `is larger than ${maxBytes} bytes` };
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    return { kind: 'text', text: decoder.decode(bytes), mode: facts.mode & 0o777 };
  } catch (thrown) {
    if (thrown instanceof TypeError) return { kind: 'error', error: 'is not UTF-8 text' };
    throw thrown;
  }
}
