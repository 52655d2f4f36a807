import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { inTempFolder, makeTempFolder } from '../../base/files/folders.js';
import { Slots } from '../../base/lifecycle.js';
import { oneLine } from '../../base/text.js';
import { runProgram, type ProgramEnd, type TakeChunk } from '../../os/run-program.js';
import {
  gitEnvironment,
  queryEnvironment,
  settingsAmong,
  settingsTexts,
  type GitContext,
  type GitSettings,
} from './git-settings.js';

/** Maximum of concurrent git processes. */
const RUNS = 8;
/** git needs a tenth of it for large repositories; a hostile one can make it hold everything. */
const MAX_DATA_BYTES = 1024 ** 3;
/** Clients abort a call after 60 s, and a call may run git twice. */
const TIME_LIMIT_MS = 20_000;
const SHOWN_STDERR_CHARS = 600;
/** Limit for output that is buffered (names, revisions, lists of settings). */
const MAX_BUFFERED_BYTES = 1_000_000;
/** Limit for lists of names: a repository of a million files has about 100 MB of entries. */
const MAX_NAMES_BYTES = 200_000_000;
/** The folder comes last in both, since its name may contain line ends. */
const FIND_COMMON_DIR = 'rev-parse --is-inside-work-tree --path-format=absolute --git-common-dir'.split(' ');
const FIND_TOP =
  'rev-parse --is-bare-repository --is-inside-work-tree --show-prefix --absolute-git-dir'.split(' ');
const LIST_SETTINGS: readonly string[] = ['config', '--list', '--show-scope', '-z'];
const SETTINGS = '.gitconfig';
/** The entries of a repository's common folder (gitrepository-layout(5)), except `config` and `hooks`. */
const SHARED = 'HEAD info logs objects packed-refs refs reftable shallow worktrees'.split(' ');

/** Each run takes one slot. To avoid deadlocks, code that has a slot must not wait for another one. */
const gitRuns = new Slots(RUNS);

/** Where and how git runs. */
export interface GitSetup {
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** The settings that git may see; default: none of the user's and the repository's. */
  readonly settings?: GitSettings;
  /** The folder that the repository shares among its working trees; undefined outside a repository. */
  readonly commonDir?: string;
  /** A folder outside of repositories that git takes for the top of an empty one. */
  readonly plainTop?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Longer limit for commands that write many files; default: that of the runner. */
  readonly timeLimitMs?: number;
  /** True for commands that change the repository or its files. */
  readonly changes?: boolean;
}

export interface GitOptions extends Pick<GitSetup, 'environment'> {
  /** Exit codes that are no errors; default: 0. */
  readonly okCodes?: readonly number[];
  /** Standard input of git; default: empty. */
  readonly input?: Uint8Array;
}

interface GitCall extends GitSetup, GitOptions {
  readonly args: readonly string[];
}

type Location = Pick<GitSetup, 'cwd' | 'signal' | 'environment'>;

/** All runs of git go through this: fixed arguments, no shell, no terminal, its own process group, bounded time. */
export class GitRunner {
  readonly #context: GitContext;
  readonly #timeLimitMs: number;

  constructor(context: GitContext, timeLimitMs = TIME_LIMIT_MS) {
    this.#context = context;
    this.#timeLimitMs = timeLimitMs;
  }

  /** Passes every chunk of output to `take` and resolves with the exit code. Throws GIT_FAILED, GIT_NOT_FOUND. */
  stream(call: GitCall, take: TakeChunk): Promise<number> {
    return withOwnFolder(call, (folder) => {
      const plain = call.plainTop === undefined ? {} : { GIT_DIR: folder, GIT_WORK_TREE: call.plainTop };
      return this.#run(call, { ...gitEnvironment(this.#context, folder), ...plain }, take);
    });
  }

  /** The settings for a folder that git may see. Throws like `stream`. */
  async settings(at: Location): Promise<GitSettings> {
    const { bytes } = await this.#ask({ ...at, args: LIST_SETTINGS });
    return settingsAmong(bytes.toString(), this.#context);
  }

  /** The common folder of the repository that contains a folder; undefined outside a repository. Throws like `stream`. */
  async commonDir(at: Location): Promise<string | undefined> {
    const { code, bytes } = await this.#ask({ ...at, args: FIND_COMMON_DIR, okCodes: [0, 128] });
    return code === 0 ? /^true\n([^]*)\n$/.exec(bytes.toString())?.[1] : undefined;
  }

  /**
   * What a folder with a `.git` is to git itself, with all settings; `isTop`: the files of the repository begin here. Throws like
   * `stream` where git takes no repository there.
   */
  async topOf(at: Location) {
    const { bytes } = await this.#ask({ ...at, args: FIND_TOP });
    const [, bare, inside, prefix, gitDir = ''] =
      /^(\w+)\n(\w+)\n(.*)\n([^]*)\n$/.exec(bytes.toString()) ?? [];
    return { isBare: bare === 'true', isTop: inside === 'true' && prefix === '', gitDir };
  }

  /** Runs git with all settings, which is only safe for finding a repository and listing its settings. */
  #ask(call: GitCall) {
    return buffered(call, (take) => this.#run(call, queryEnvironment(this.#context), take));
  }

  async #run(call: GitCall, env: Record<string, string>, take: TakeChunk): Promise<number> {
    const { cwd, signal, input, timeLimitMs = this.#timeLimitMs } = call;
    const args = ['--no-pager', '--literal-pathspecs', ...call.args];
    const limits = { timeLimitMs, maxDataBytes: MAX_DATA_BYTES, ...(input !== undefined && { input }) };
    const all = { ...env, ...call.environment };
    const slot = await gitRuns.take(signal);
    try {
      const end = await runProgram({ program: 'git', args, cwd, env: all, signal, ...limits }, take);
      if (end.how === 'exited' && (call.okCodes ?? [0]).includes(end.code)) return end.code;
      throw faultOf(call, end, all, timeLimitMs);
    } finally {
      slot.dispose();
    }
  }
}

/** git at one place. Throws like the runner. */
export class GitAt {
  protected readonly runner: GitRunner;
  protected readonly setup: GitSetup;

  constructor(runner: GitRunner, setup: GitSetup) {
    this.runner = runner;
    this.setup = setup;
  }

  /** Passes every chunk of output to `take`, and returns the exit code. */
  stream(args: readonly string[], take: TakeChunk, options: GitOptions = {}): Promise<number> {
    return this.runner.stream(this.#call(args, options), take);
  }

  /** The whole output, at most 1 MB. */
  async output(args: readonly string[], options: GitOptions = {}) {
    const { code, bytes } = await this.#buffered(args, options, MAX_BUFFERED_BYTES);
    return { code, bytes, text: bytes.toString() };
  }

  /** The output without its last line end. Throws for every exit code except 0. */
  async text(args: readonly string[], options: GitOptions = {}): Promise<string> {
    return (await this.output(args, options)).text.replace(/\n$/, '');
  }

  /** The NUL-separated fields of the output; the last one may end without it, as the line of `--shortstat` does. */
  async fields(args: readonly string[], options: GitOptions = {}): Promise<readonly Buffer[]> {
    const { bytes } = await this.#buffered(args, options, MAX_NAMES_BYTES);
    const found: Buffer[] = [];
    for (let start = 0; start < bytes.length;) {
      const nul = bytes.indexOf(0, start);
      const end = nul < 0 ? bytes.length : nul;
      found.push(bytes.subarray(start, end));
      start = end + 1;
    }
    return found;
  }

  #buffered(args: readonly string[], options: GitOptions, maxBytes: number) {
    const call = this.#call(args, options);
    return buffered(call, (take) => this.runner.stream(call, take), maxBytes);
  }

  #call(args: readonly string[], options: GitOptions): GitCall {
    const environment = { ...this.setup.environment, ...options.environment };
    return { ...this.setup, ...options, args, environment };
  }
}

/**
 * Calls `use` with a folder that is git's home, with the settings, and replaces the repository's `commonDir`: it links to its entries,
 * but has its own `config` and no hooks, so later changes of the repository's settings have no effect. Without a `commonDir` it is an
 * empty repository. Removes it. Throws NOT_WRITABLE, and what `use` throws.
 */
async function withOwnFolder<T>(
  { settings, commonDir }: Pick<GitSetup, 'settings' | 'commonDir'>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await makeTempFolder('claude-code-bridge-git-');
  const inside = (name: string): string => join(folder, name);
  try {
    const texts = settingsTexts(settings);
    const files = { [SETTINGS]: texts.user, config: texts.repository };
    // Without a HEAD and these folders git finds no repository at all.
    const empty = { HEAD: 'ref: refs/heads/main\n' };
    const written = Object.entries(commonDir === undefined ? { ...files, ...empty } : files);
    // Synchronous: to hand these to threads takes longer.
    await inTempFolder(() => {
      for (const [name, text] of written) writeFileSync(inside(name), text, { mode: 0o600 });
      if (commonDir === undefined) for (const name of ['objects', 'refs']) mkdirSync(inside(name));
      else for (const name of SHARED) symlinkSync(join(commonDir, name), inside(name));
    });
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 2 });
  }
}

async function buffered(
  call: GitCall,
  stream: (take: TakeChunk) => Promise<number>,
  maxBytes = MAX_BUFFERED_BYTES,
) {
  const chunks: Buffer[] = [];
  let length = 0;
  const code = await stream((chunk) => {
    length += chunk.length;
    if (length > maxBytes) throw failed(call, `printed more than ${maxBytes} bytes`);
    chunks.push(chunk);
  });
  return { code, bytes: Buffer.concat(chunks) };
}

/** The error for an end that is none of `okCodes`. */
function faultOf(
  call: GitCall,
  end: ProgramEnd,
  env: Readonly<Record<string, string>>,
  limitMs: number,
): BridgeError {
  if (end.how === 'too-slow') return failed(call, `did not finish within ${limitMs / 1_000} seconds`);
  if (end.how === 'missing')
    return new BridgeError(
      'GIT_NOT_FOUND',
      'git could not be started: it is not on PATH, or the folder was removed.',
      'Install git, and make sure that it is on the PATH of the server.',
    );
  const { args, cwd, changes } = call;
  if (end.how === 'blocked')
    return new BridgeError(
      'GIT_FAILED',
      `git ${args[0] ?? ''} is blocked: a file that it reads, such as .gitignore, is a named pipe without a writer.`,
      'Remove the pipe: find . -type p shows it.',
    );
  const { stderr } = end;
  if (stderr.includes('dubious ownership'))
    return new BridgeError(
      'NOT_A_REPOSITORY',
      `The repository at '${cwd}' belongs to another user, and git does not trust it.`,
      `If the user trusts it, they can run: git config --global --add safe.directory ${JSON.stringify(cwd)}`,
    );
  // Hints are advice, also on the empty file of grafts that the bridge itself names.
  const said = withoutTemporary(stderr, call, env)
    .replaceAll(/^hint:.*\n?/gm, '')
    .trim();
  const message = oneLine(said.replaceAll(/^(fatal|error): /gm, ''), SHOWN_STDERR_CHARS);
  return new BridgeError(
    stderr.includes('not a git repository') ? 'NOT_A_REPOSITORY' : 'GIT_FAILED',
    `git ${args[0] ?? ''} failed (${end.how === 'exited' ? end.code : end.signal}): ${message === '' ? 'it printed no message' : message}`,
    `The message is git’s own. ${changes === true ? 'Whether anything changed is unknown.' : 'Nothing was changed; repair what it names in a terminal.'}`,
  );
}

function failed({ args }: GitCall, what: string): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git ${args[0] ?? ''} ${what}.`,
    'Limit the call with a path, or inspect the repository in a terminal.',
  );
}

/** What git printed, with the repository's own folder and the user's settings instead of the temporary ones of the bridge. */
function withoutTemporary(
  stderr: string,
  { commonDir = '.git' }: GitCall,
  { GIT_COMMON_DIR: common, GIT_INDEX_FILE: index }: Readonly<Record<string, string>>,
): string {
  const shown = index === undefined ? stderr : stderr.replaceAll(index, 'index');
  if (common === undefined) return shown;
  return shown.replaceAll(join(common, SETTINGS), `~/${SETTINGS}`).replaceAll(common, commonDir);
}

/** The error for output that no version of git's format allows. */
export function unreadable(what: string): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `Cannot parse the output of git: it contains ${what}.`,
    'Inspect the repository in a terminal; the bridge may not support this version of git.',
  );
}
