import { mkdir, stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { expandHome } from '../../config/places.js';
import { loadConfig } from '../../config/load-config.js';
import { defaultSettingsPath } from '../../config/places.js';
import { parseSettingsText, type SettingsEntry } from '../../config/json-text.js';
import type { InitIo, Questions } from './questions.js';
import { editJson } from '../../config/json-text.js';
import { leftAsItIs, readSettings, writeSettings } from '../../config/settings-file.js';

export interface RootsRequest {
  readonly io: InitIo;
  readonly homeDir: string;
  readonly cwd: string;
  readonly roots?: string | undefined;
  readonly yes?: boolean | undefined;
}

/** What is to become of `allowed_roots`. */
export type RootsPlan =
  | {
      readonly kind: 'add' | 'replace';
      readonly roots: readonly string[];
      /** Those of them that are to be created. */
      readonly missing: readonly string[];
    }
  | { readonly kind: 'keep' }
  | { readonly kind: 'cancelled' };

/** Learns the allowed roots from the flag or by asking; writes nothing. Throws CONFIG_ERROR for a broken file, INVALID_ARGUMENTS and PATH_NOT_FOUND for a flag. */
export async function planRoots(request: RootsRequest): Promise<RootsPlan> {
  const { io, roots } = request;
  const existing = await existingRoots(request);
  if (roots !== undefined) return { kind: 'replace', roots: await rootsOfFlag(request, roots), missing: [] };
  if (request.yes === true || io.questions === undefined) {
    if (existing.length > 0) return { kind: 'keep' };
    const message = 'No allowed roots are set, and there is no terminal to ask in.';
    throw new BridgeError('INVALID_ARGUMENTS', message, 'Pass them with --roots, separated by commas.');
  }
  io.write('Nothing is written before the last question is answered.');
  if (existing.length === 0) return askRoots(request, io.questions, []);
  io.write(`Allowed roots so far: ${existing.join(', ')}`);
  const keep = await io.questions.confirm('Keep them, and add to them?', true);
  return keep === undefined ? { kind: 'cancelled' } : askRoots(request, io.questions, keep ? existing : []);
}

/** Creates missing folders and writes the settings file, which keeps its other keys, comments and layout. Throws CONFIG_ERROR when the server would refuse it. */
export async function writeRoots(
  { io, homeDir }: RootsRequest,
  { kind, roots, missing }: Extract<RootsPlan, { roots: unknown }>,
): Promise<void> {
  for (const root of missing) await mkdir(expandHome(root, homeDir), { recursive: true });
  const path = defaultSettingsPath(homeDir);
  const { text } = await readSettings(path);
  // It may have been changed while the questions were asked.
  const entries = entriesOf(path, text);
  const inList = kind === 'add' && entries.some((entry) => entry.key === 'allowed_roots');
  const after = inList
    ? editJson(
        text,
        roots.map((value) => ({ path: ['allowed_roots', -1], value, insert: true })),
      )
    : editJson(text, [{ path: ['allowed_roots'], value: roots }]);
  await writeSettings(path, after);
  io.write(`Wrote ${path}:\n${after.trimEnd()}`);
  await loadConfig({ env: {}, cwd: homeDir, homeDir, configPath: path });
}

async function rootsOfFlag({ homeDir, cwd }: RootsRequest, flag: string): Promise<readonly string[]> {
  const roots = flag.split(',').map((root) => root.trim());
  const errors = await Promise.all(roots.map((root) => rootError(root, homeDir, cwd)));
  const wrong = errors.filter((error) => error !== undefined);
  if (wrong.length === 0) return [...new Set(roots)];
  const { code } = wrong.find((error) => error.code === 'INVALID_ARGUMENTS') ?? { code: 'PATH_NOT_FOUND' };
  const hint = 'Pass existing folders as absolute paths, separated by commas. Nothing was written.';
  throw new BridgeError(code, wrong.map(({ words }) => `flag --roots: ${words}`).join('\n'), hint);
}

async function askRoots(
  { homeDir, cwd }: RootsRequest,
  questions: Questions,
  known: readonly string[],
): Promise<RootsPlan> {
  const roots: string[] = [];
  const missing: string[] = [];
  const isKnown = (root: string) =>
    [...known, ...roots].some((other) => expandHome(other, homeDir) === expandHome(root, homeDir));
  for (;;) {
    const isFirst = known.length + roots.length === 0;
    const message = isFirst
      ? 'Folder in which Claude Code may work, such as ~/Projects'
      : 'Another folder (Enter if there is none)';
    const answer = await questions.text(message);
    if (answer === undefined) return { kind: 'cancelled' };
    const root = answer.trim();
    if (root === '' && !isFirst) break;
    const error = await rootError(root, homeDir, cwd);
    if (error?.code === 'PATH_NOT_FOUND') {
      const create = await questions.confirm(`${error.words} Create it?`, true);
      if (create === undefined) return { kind: 'cancelled' };
      if (!create) continue;
      missing.push(root);
    } else if (error !== undefined) {
      questions.error(error.words);
      continue;
    }
    if (!isKnown(root)) roots.push(root);
  }
  if (known.length === 0) return { kind: 'replace', roots, missing };
  return roots.length === 0 ? { kind: 'keep' } : { kind: 'add', roots, missing };
}

async function existingRoots({ homeDir }: RootsRequest): Promise<readonly string[]> {
  const path = defaultSettingsPath(homeDir);
  const { text } = await readSettings(path);
  const entry = entriesOf(path, text).find(({ key }) => key === 'allowed_roots');
  if (entry === undefined) return [];
  const roots = z.array(z.string()).safeParse(entry.value);
  if (roots.success) return roots.data;
  throw leftAsItIs(`${path}:${entry.line}: allowed_roots: expected a list of folders`);
}

/** Throws CONFIG_ERROR for a file that cannot be used. */
export function entriesOf(path: string, text: string): readonly SettingsEntry[] {
  if (text.trim() === '') return [];
  const parsed = parseSettingsText(text);
  if (parsed.kind === 'entries') return parsed.entries;
  throw leftAsItIs(parsed.errors.map(({ line, words }) => `${path}:${line}: ${words}`).join('\n'));
}

interface RootError {
  /** PATH_NOT_FOUND for a folder that does not exist. */
  readonly code: 'PATH_NOT_FOUND' | 'INVALID_ARGUMENTS';
  /** Why the folder cannot be an allowed root, and what to write instead. */
  readonly words: string;
}

/** Undefined for a folder that can be an allowed root. */
async function rootError(root: string, homeDir: string, cwd: string): Promise<RootError | undefined> {
  const words = wrongPath(root, homeDir, cwd);
  if (words !== undefined) return { code: 'INVALID_ARGUMENTS', words };
  try {
    const isFolder = (await stat(expandHome(root, homeDir))).isDirectory();
    return isFolder ? undefined : { code: 'INVALID_ARGUMENTS', words: `${root} is not a folder.` };
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT'
      ? { code: 'PATH_NOT_FOUND', words: `${root} does not exist.` }
      : { code: 'INVALID_ARGUMENTS', words: `${root} cannot be read (${code}).` };
  }
}

function wrongPath(root: string, homeDir: string, cwd: string): string | undefined {
  if (root === '') return 'The path of a folder is empty.';
  const expanded = expandHome(root, homeDir);
  if (expanded.includes('\0')) return 'A path cannot contain a NUL character.';
  if (expanded.startsWith('~')) {
    return `${root} is the home of another user, which is not supported: write the absolute path.`;
  }
  return isAbsolute(expanded)
    ? undefined
    : `${root} is a relative path. If you mean ${resolve(cwd, root)}, write that.`;
}
