import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import { tailChars } from '../../base/text.js';
import { testedVersions } from '../../claude/tested-versions.js';

const run = promisify(execFile);

/** The versions that the end-to-end tests drive. */
export const CLAUDE_VERSIONS: readonly string[] = testedVersions.map(({ version }) => version);
/** The one that the demo fetches. */
export const PINNED_VERSION: string = (testedVersions.at(-1) ?? testedVersions[0]).version;

/** 235 MB: five seconds from a near registry, minutes over a slow line. */
const INSTALL_LIMIT_MS = 10 * 60 * 1000;
/** `--version` answers in 0.2 s. */
const VERSION_LIMIT_MS = 30 * 1000;
const STDERR_CHARS = 400;
const NPM_FLAGS = [
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-package-lock',
  '--no-save',
  '--omit=dev',
  '--include=optional',
  // A missing network is reported after seconds, not after a minute.
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=3000',
];

export interface FetchClaudeOptions {
  readonly version: string;
  /** Has one folder for each version; any number of callers may share it. */
  readonly cacheDir: string;
  /** For npm: PATH, proxies and npm's own settings. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * The path of the native `claude` of that version, from the cache or else installed from npm without running its scripts.
 * Throws CLAUDE_NOT_FOUND when npm or the network is missing, or the package has no program for this machine.
 */
export async function findOrFetchClaude(options: FetchClaudeOptions): Promise<string> {
  const { version, cacheDir, log, signal } = options;
  const home = join(cacheDir, version);
  const cached = await findBinary(home, version, signal);
  if (cached !== undefined) return cached;
  await mkdir(cacheDir, { recursive: true });
  log(`Fetching Claude Code ${version} from npm into ${cacheDir} (235 MB, once) …`);
  const partial = await mkdtemp(join(cacheDir, '.partial-'));
  try {
    await install(partial, options);
    // What another install has put there meanwhile is used; what was cut off is replaced.
    if ((await findBinary(home, version, signal)) === undefined) {
      await rm(home, { recursive: true, force: true });
      await rename(partial, home);
    }
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
  const fetched = await findBinary(home, version, signal);
  if (fetched !== undefined) return fetched;
  throw new BridgeError(
    'CLAUDE_NOT_FOUND',
    `Claude Code ${version} was fetched, but it has no program for ${process.platform} ${process.arch}.`,
    'Pass an installed program with --claude <path>.',
  );
}

async function install(folder: string, { version, env, signal }: FetchClaudeOptions): Promise<void> {
  // A package.json of its own, so that npm does not install into a project further up.
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  const args = ['install', ...NPM_FLAGS, '--prefix', folder, `@anthropic-ai/claude-code@${version}`];
  try {
    await run('npm', args, { cwd: folder, env, timeout: INSTALL_LIMIT_MS, killSignal: 'SIGKILL', signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    const isMissing = systemCodeOf(error) === 'ENOENT';
    const failure = isMissing
      ? 'npm was not found on PATH'
      : tailChars(messageOf(error).trim(), STDERR_CHARS);
    throw new BridgeError(
      'CLAUDE_NOT_FOUND',
      `Claude Code ${version} is not in ${dirname(folder)} and could not be fetched: ${failure}.`,
      'Check the network and npm (npm ping), or pass an installed program with --claude <path>.',
    );
  }
}

/**
 * The program of that version in the folder where it was fetched; undefined where there is none. Tries each platform package that npm put
 * there: the musl one does not start on glibc, nor the other way round.
 */
export async function findBinary(
  home: string,
  version: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const scope = join(home, 'node_modules', '@anthropic-ai');
  const prefix = `claude-code-${process.platform}-${process.arch}`;
  const options = {
    cwd: home,
    env: { HOME: home, PATH: '/usr/bin:/bin' },
    timeout: VERSION_LIMIT_MS,
    signal,
  };
  const packages = await readdir(scope).catch(() => []); // No such folder: not installed.
  for (const name of packages.filter((found) => found.startsWith(prefix)).sort()) {
    const binary = join(scope, name, 'claude');
    const said = await run(binary, ['--version'], options).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      return { stdout: '' }; // Missing, or not for this machine.
    });
    if (said.stdout.includes(version)) return binary;
  }
  return undefined;
}
