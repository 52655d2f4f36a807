import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import { z } from 'zod';
import { BridgeError } from '../base/errors.js';
import { readJsonFile, writeJsonFileAtomically } from '../base/files/json-file.js';
import { runProgram } from '../os/run-program.js';

/** Measured: 2.1.197 lets commands run that a rule denies, such as those in `( )`, in a loop or called by their path. */
export const OLDEST_SUPPORTED_VERSION = '2.1.330';

/** A cold start of Claude Code on a busy machine takes some seconds. */
const VERSION_LIMIT_MS = 10_000;
const MAX_OUTPUT_BYTES = 64 * 1024;
/** More installations than a person has; beyond it the oldest are evicted. */
const MAX_ENTRIES = 20;
/** Cached instead of a version: the program is not Claude Code. */
const OTHER = '';
const cacheSchema = z.record(z.string(), z.string());

/** Where installers put Claude Code when they do not put it on PATH, relative to the home directory. */
const knownPlaces = [
  '.claude/local/claude',
  '.local/bin/claude',
  '.claude/bin/claude',
  '.npm-global/bin/claude',
];
const systemPlaces = ['/usr/local/bin/claude', '/opt/homebrew/bin/claude'];

export interface Installation {
  /** Absolute path of the program, then the configured arguments. */
  readonly command: readonly string[];
  /** False for another program, which has only an exit code and screen patterns. */
  readonly isClaude: boolean;
}

/**
 * Finds the configured command. A bare name is looked up on `path`; `claude` also where its installers put it.
 * Throws CLAUDE_NOT_FOUND or CLAUDE_NOT_EXECUTABLE.
 */
export async function findInstallation(
  command: readonly string[],
  where: { readonly path: string; readonly homeDir: string },
): Promise<Installation> {
  const [program = '', ...rest] = command;
  const isClaude = /^claude([-.@].*)?$/i.test(basename(program));
  const candidates = program.includes('/')
    ? [program]
    : [
        ...where.path
          .split(delimiter)
          .filter((folder) => folder.startsWith('/'))
          .map((folder) => join(folder, program)),
        ...(program === 'claude'
          ? [...knownPlaces.map((place) => join(where.homeDir, place)), ...systemPlaces]
          : []),
      ];
  let blocked: string | undefined;
  let isFolder = false;
  for (const candidate of candidates) {
    const state = await programState(candidate);
    if (state === 'executable') return { command: [candidate, ...rest], isClaude };
    if (state === 'not-executable') blocked ??= candidate;
    if (state === 'folder') isFolder = true;
  }
  if (blocked !== undefined) {
    throw new BridgeError(
      'CLAUDE_NOT_EXECUTABLE',
      `The command '${program}' was found at ${blocked}, but it is not an executable file.`,
      `Make it executable (chmod +x ${blocked}) or set claude_command (MCP_CLAUDE_COMMAND) to the right program.`,
      { data: { path: blocked } },
    );
  }
  throw new BridgeError(
    'CLAUDE_NOT_FOUND',
    program.includes('/')
      ? `The command '${program}' (setting claude_command) ${isFolder ? 'is a folder, not a program' : 'does not exist'}.`
      : `The command '${program}' was not found on PATH (${where.path})${program === 'claude' ? ' or where Claude Code installs itself' : ''}.`,
    'Install Claude Code (npm install -g @anthropic-ai/claude-code), or set claude_command (MCP_CLAUDE_COMMAND) to its full path.',
  );
}

async function programState(path: string): Promise<'executable' | 'not-executable' | 'folder' | 'missing'> {
  try {
    const facts = await stat(path);
    if (!facts.isFile()) return facts.isDirectory() ? 'folder' : 'missing';
  } catch {
    // Missing, or in a folder that cannot be entered: it cannot be run either way.
    return 'missing';
  }
  return access(path, constants.X_OK).then(
    () => 'executable' as const,
    () => 'not-executable' as const,
  );
}

/** Must be a whole line: a wrapper may print other lines, and a sentence may mention a version. */
const VERSION_LINE = /^(\d+\.\d+\.\d+)(?:[-+][\w.+-]+)? \(Claude Code\)\r?$/m;

/** `2.1.330 (Claude Code)` → `2.1.330`; undefined for anything else. */
export function parseVersion(output: string): string | undefined {
  return VERSION_LINE.exec(output)?.[1];
}

/** True when `version` is older than OLDEST_SUPPORTED_VERSION. */
export function isTooOld(version: string): boolean {
  return compareVersions(version, OLDEST_SUPPORTED_VERSION) < 0;
}

/** The error CLAUDE_TOO_OLD. */
export function tooOld(version: string): BridgeError {
  return new BridgeError(
    'CLAUDE_TOO_OLD',
    `Claude Code ${version} is too old: the bridge needs ${OLDEST_SUPPORTED_VERSION} or newer.`,
    'Update it: claude update, or npm install -g @anthropic-ai/claude-code.',
  );
}

/** Negative when `a` is older than `b`, 0 when both are the same. */
export function compareVersions(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let index = 0; index < 3; index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Identifies an installed file, so that its version can be cached. */
async function installationKey(program: string): Promise<string> {
  const path = await realpath(program);
  const { mtimeMs, size } = await stat(path);
  return `${path}:${mtimeMs}:${size}`;
}

/**
 * The version that the program prints now. A promise that only Claude Code can keep must not rely on a cached version: what a script, a
 * shim or the arguments start can change while the program's file stays the same.
 */
export async function printedVersion(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return parseVersion((await outputOf(command, env)) ?? '');
}

/**
 * Returns the installation with `isClaude` set by the version that it prints: a script, `npx` or `env` may run Claude Code under another
 * name, and another program may be called `claude`. A program with another name that answered without an error is cached as not Claude
 * Code.
 */
export async function recognised(
  installation: Installation,
  env: Readonly<Record<string, string>>,
  cacheFile: string,
): Promise<Installation> {
  const version = await readVersion(installation.command, env, cacheFile, !installation.isClaude);
  return { ...installation, isClaude: version !== undefined };
}

/**
 * The version of an installed CLI: asked once by `--version`, then cached in `cacheFile` while the program's file stays the same.
 * Undefined when the program does not answer like Claude Code, which is cached, too, with `cachesOthers`.
 */
export async function readVersion(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  cacheFile: string,
  cachesOthers = false,
): Promise<string | undefined> {
  const [program = '', ...args] = command;
  const key = [await installationKey(program), ...args].join(' ');
  const known = await readJsonFile(cacheFile, cacheSchema);
  const entries = known.state === 'ok' ? known.value : {};
  const cached = entries[key];
  if (cached !== undefined) return cached === OTHER ? undefined : cached;
  const output = await outputOf(command, env);
  const version = parseVersion(output ?? '');
  if (version !== undefined || (output !== undefined && cachesOthers)) {
    const newest = Object.entries({ ...entries, [key]: version ?? OTHER }).slice(-MAX_ENTRIES);
    await writeJsonFileAtomically(cacheFile, Object.fromEntries(newest), { durable: false });
  }
  return version;
}

/** The standard output of `--version`, outside of any project, where `npx` would run what it has; undefined when the program fails, prints too much or takes too long. It gets no input. */
async function outputOf(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  let output = '';
  const call = { program, args: [...args, '--version'], cwd: '/', env, atExit: 'SIGKILL' } as const;
  try {
    const limits = { timeLimitMs: VERSION_LIMIT_MS, signal: new AbortController().signal };
    const end = await runProgram({ ...call, ...limits }, (chunk) => {
      output += chunk.toString('utf8');
      if (output.length > MAX_OUTPUT_BYTES) throw new Error('it prints too much');
    });
    return end.how === 'exited' && end.code === 0 ? output : undefined;
  } catch {
    // It cannot be started, or is no program that answers.
    return undefined;
  }
}
