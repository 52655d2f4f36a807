import { lstatSync, statSync, type BigIntStats } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { fileStamp } from './file-stamp.js';
import { gitFlags, type GitRun } from './git-listing.js';
import { runInTurn } from './search-program.js';
import { isSettled } from './settled.js';

const NANOSECONDS_PER_MS = 1_000_000n;
/** Where git looks for the settings of the whole machine, unless it was built for another place. */
const SYSTEM_SETTINGS = '/etc/gitconfig';
/** What a repository's own settings are called. */
const OWN_SETTINGS = /(?:^|\/)config(?:\.worktree)?$/;
const MAX_SETTINGS_BYTES = 1_000_000;

/**
 * The files that git reads to judge what is in a folder, besides the ignore files in it and below: as long as they are the same, so
 * are git's rules there. Undefined where not all of them can be told: settings that include others, a `.git` that points elsewhere,
 * or one that was changed just now. `nowMs`: since the epoch, as the times of files are.
 */
export async function ruleInputs(path: string, run: GitRun, nowMs: number): Promise<RuleInputs | undefined> {
  const repository = repositoryFiles(path);
  if (repository === undefined) return undefined;
  const user = await userFiles(run);
  if (user === undefined) return undefined;
  const inputs = new RuleInputs({ ...repository, files: [...repository.files, ...user] });
  return inputs.isSettledAt(nowMs) ? inputs : undefined;
}

interface RuleFiles {
  /** Their content counts. Any may be missing. */
  readonly files: readonly string[];
  /** Whether each is there, and the same one. */
  readonly repositories: readonly string[];
  /** From the folder up to the top of its repository: where ignore files may come and go. */
  readonly folders: readonly string[];
}

/** Files by whose stamps it is seen whether anything changed. */
export class RuleInputs {
  readonly #files: RuleFiles;
  readonly #stamps: string;
  readonly #newestNs: bigint;

  constructor(files: RuleFiles) {
    this.#files = files;
    const { stamps, newestNs } = this.#look();
    this.#stamps = stamps;
    this.#newestNs = newestNs;
  }

  /** True when none changed since this was made. */
  isSame(): boolean {
    return this.#look().stamps === this.#stamps;
  }

  /** True when none was changed shortly before, or since: every later change will be seen. */
  isSettledAt(nowMs: number): boolean {
    return isNewestSettled(this.#newestNs, nowMs);
  }

  /** Tells later whether none was changed meanwhile, not even forth and back. */
  watched(nowMs: number): () => boolean {
    const before = stampsOf(this.#files.folders);
    return () => {
      const after = stampsOf(this.#files.folders);
      return before.stamps === after.stamps && isNewestSettled(after.newestNs, nowMs) && this.isSame();
    };
  }

  #look(): Look {
    const { stamps, newestNs } = stampsOf(this.#files.files);
    const repositories = this.#files.repositories.map((path) => {
      const stats = statsAt(path, lstatSync);
      return stats === undefined ? '' : `${stats.dev}-${stats.ino}-${stats.isDirectory()}`;
    });
    return { stamps: [stamps, ...repositories].join(' '), newestNs };
  }
}

interface Look {
  readonly stamps: string;
  /** The newest time of any of the files. */
  readonly newestNs: bigint;
}

function stampsOf(files: readonly string[]): Look {
  let newestNs = 0n;
  const stampOf = (stats: BigIntStats | undefined): string => {
    if (stats === undefined) return '';
    for (const ns of [stats.mtimeNs, stats.ctimeNs]) if (ns > newestNs) newestNs = ns;
    return fileStamp(stats);
  };
  const stamps = files.map((file) => {
    const stats = statsAt(file, lstatSync);
    // A link may stay as it is while another file is put behind it.
    const behind = stats?.isSymbolicLink() === true ? `>${stampOf(statsAt(file, statSync))}` : '';
    return stampOf(stats) + behind;
  });
  return { stamps: stamps.join(' '), newestNs };
}

function isNewestSettled(newestNs: bigint, nowMs: number): boolean {
  const newestMs = Number(newestNs / NANOSECONDS_PER_MS);
  return isSettled({ mtimeMs: newestMs, ctimeMs: newestMs }, nowMs);
}

/** Of every repository that `path` may be part of, since git passes by what only looks like one. */
function repositoryFiles(path: string): RuleFiles | undefined {
  const files: string[] = [];
  const repositories: string[] = [];
  const folders: string[] = [];
  let isInside = true;
  for (let folder = path; ; folder = dirname(folder)) {
    const git = join(folder, '.git');
    const stats = statsAt(git, lstatSync);
    if (stats !== undefined && !stats.isDirectory()) return undefined;
    files.push(join(folder, '.gitignore'));
    repositories.push(git);
    if (isInside) folders.push(folder);
    if (stats !== undefined) {
      for (const name of ['HEAD', 'config', 'config.worktree', 'info/exclude']) files.push(join(git, name));
      isInside = false;
    }
    if (folder === dirname(folder)) return { files, repositories, folders };
  }
}

/** The user's settings and the machine's, and the ignore file that they name. */
async function userFiles(run: GitRun): Promise<readonly string[] | undefined> {
  const { HOME: home = '/', XDG_CONFIG_HOME: xdg = '' } = run.env;
  const folder = join(xdg === '' ? join(home, '.config') : xdg, 'git');
  const files = new Set([
    SYSTEM_SETTINGS,
    join(home, '.gitconfig'),
    join(folder, 'config'),
    join(folder, 'ignore'),
  ]);
  const settings = await listedSettings(run);
  if (settings === undefined) return undefined;
  for (const { origin, name, value } of settings) {
    // Which files they name depends on more than can be looked at here.
    if (/^include(?:if)?\./.test(name)) return undefined;
    const file = origin.startsWith('file:') ? origin.slice('file:'.length) : undefined;
    if (file !== undefined && isAbsolute(file)) files.add(file);
    else if (file !== undefined && !OWN_SETTINGS.test(file)) return undefined;
    if (name !== 'core.excludesfile' || value === '') continue;
    const excludes = value.startsWith('~/') ? join(home, value.slice(2)) : value;
    if (!isAbsolute(excludes)) return undefined;
    files.add(excludes);
  }
  return [...files];
}

interface Setting {
  /** `file:<path>`, or `command line:` for what is in the environment. */
  readonly origin: string;
  /** In small letters but for what is in the middle. */
  readonly name: string;
  readonly value: string;
}

/** Undefined when git does not say. */
async function listedSettings(run: GitRun): Promise<readonly Setting[] | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const args = [...gitFlags, 'config', '--list', '--show-origin', '-z'];
  const program = await runInTurn({ program: 'git', args, ...run }, (chunk) => {
    bytes += chunk.length;
    if (bytes <= MAX_SETTINGS_BYTES) chunks.push(chunk);
  });
  program.end();
  const code = await program.ended.catch((thrown: unknown) => {
    // It waits for something, which whoever needs its answer will say.
    if (thrown instanceof BridgeError && !run.signal.aborted) return undefined;
    throw thrown;
  });
  if (code !== 0 || bytes > MAX_SETTINGS_BYTES) return undefined;
  const fields = Buffer.concat(chunks).toString('utf8').split('\0');
  const settings: Setting[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name = '', ...value] = (fields[at + 1] ?? '').split('\n');
    settings.push({ origin: fields[at] ?? '', name, value: value.join('\n') });
  }
  return settings;
}

function statsAt(
  path: string,
  look: (path: string, options: { bigint: true; throwIfNoEntry: false }) => BigIntStats | undefined,
): BigIntStats | undefined {
  try {
    return look(path, { bigint: true, throwIfNoEntry: false });
  } catch (thrown) {
    // What cannot be looked at, git cannot open either.
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
