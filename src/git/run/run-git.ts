import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { makeTempFolder, tempFolderFault } from '../../base/files/folders.js';
import { Slots } from '../../base/lifecycle.js';
import { oneLine } from '../../base/text.js';
import { runProgram, type TakeChunk } from '../../os/run-program.js';
import { gitEnvironment, queryEnvironment, type GitContext } from './git-environment.js';
import {
  noSettings,
  repositorySettingsText,
  settingsAmong,
  userSettingsText,
  type GitSettings,
} from './git-settings.js';

/** Maximum of concurrent git and ripgrep processes. */
const RUNS = 8;
/** git needs a tenth of it for large repositories; a hostile one can make it hold everything. */
const MAX_DATA_BYTES = 1024 ** 3;
/** Clients abort a call after 60 s, and a call may run git twice. */
const TIME_LIMIT_MS = 20_000;
const SHOWN_STDERR_CHARS = 600;
/** Limit for output that is buffered (names, revisions, lists of settings). */
const MAX_BUFFERED_BYTES = 1_000_000;
/** A path has at most about 4,096 bytes, and a status line contains one or two of them. */
const MAX_FIELD_BYTES = 65_536;
/** The folder comes last in both, since its name may contain line ends. */
const FIND_COMMON_DIR = 'rev-parse --is-inside-work-tree --path-format=absolute --git-common-dir'.split(' ');
const FIND_TOP =
  'rev-parse --is-bare-repository --is-inside-work-tree --show-prefix --absolute-git-dir'.split(' ');
const LIST_SETTINGS: readonly string[] = ['config', '--list', '--show-scope', '-z'];
/** The entries of a repository's common folder (gitrepository-layout(5)), except `config` and `hooks`. */
const SHARED = 'HEAD info logs objects packed-refs refs reftable shallow worktrees'.split(' ');

/** Each run of git or ripgrep takes one slot. To avoid deadlocks, code that has a slot must not wait for another one. */
export const gitRuns = new Slots(RUNS);

export interface GitCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  /** The settings that git may see; default: none of the user's and the repository's. */
  readonly settings?: GitSettings;
  /** The folder that the repository shares among its working trees; undefined outside a repository. */
  readonly commonDir?: string;
  /** A folder outside of repositories that git takes for the top of an empty one. */
  readonly plainTop?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Exit codes that are no errors; default: 0. */
  readonly okCodes?: readonly number[];
  /** Standard input of git; default: empty. */
  readonly input?: Uint8Array;
  /** Longer limit for commands that write many files; default: that of the runner. */
  readonly timeLimitMs?: number;
  /** True for a command that changes the repository or its files. */
  readonly changes?: boolean;
}

type GitLocation = Pick<GitCall, 'cwd' | 'signal' | 'environment'>;

export interface GitRunner {
  /** Passes every chunk of output to `take` and resolves with the exit code. Throws GIT_FAILED, GIT_NOT_FOUND. */
  stream(call: GitCall, take: TakeChunk): Promise<number>;
  /** The whole output, at most 1 MB. Throws like `stream`. */
  output(call: GitCall): Promise<{ readonly code: number; readonly bytes: Buffer }>;
  /** The settings for a folder that git may see. Throws like `stream`. */
  settings(call: GitLocation): Promise<GitSettings>;
  /** The common folder of the repository that contains a folder; undefined outside a repository. Throws like `stream`. */
  commonDir(call: GitLocation): Promise<string | undefined>;
  /** What a folder with a `.git` is to git itself, with all settings. Throws like `stream` where git takes no repository there. */
  topOf(call: GitLocation): Promise<GitTop>;
}

interface GitTop {
  readonly isBare: boolean;
  /** The files of the repository begin here. */
  readonly isTop: boolean;
  readonly gitDir: string;
}

/** All runs of git go through this: fixed arguments, no shell, no terminal, its own process group, bounded time. */
export function gitRunner(context: GitContext, timeLimitMs: number = TIME_LIMIT_MS): GitRunner {
  const run = async (call: GitCall, env: Record<string, string>, take: TakeChunk): Promise<number> => {
    const slot = await gitRuns.take(call.signal);
    try {
      return await runOnce({ timeLimitMs, ...call }, { ...env, ...call.environment }, take);
    } finally {
      slot.dispose();
    }
  };
  const stream: GitRunner['stream'] = (call, take) =>
    withOwnFolders(call, (home, common) => {
      const { plainTop } = call;
      const plain = plainTop === undefined ? {} : { GIT_DIR: common, GIT_WORK_TREE: plainTop };
      return run(call, { ...gitEnvironment(context.path, { home, common }), ...plain }, take);
    });
  // Runs git with all settings, which is only safe for finding a repository and listing its settings.
  const ask = async (call: GitCall): Promise<{ readonly code: number; readonly text: string }> => {
    const { code, bytes } = await buffered(call, (take) => run(call, queryEnvironment(context), take));
    return { code, text: bytes.toString('utf8') };
  };
  return {
    stream,
    output: (call) => buffered(call, (take) => stream(call, take)),
    settings: async (at) => settingsAmong((await ask({ ...at, args: LIST_SETTINGS })).text, context),
    commonDir: async (at) => {
      const { code, text } = await ask({ ...at, args: FIND_COMMON_DIR, okCodes: [0, 128] });
      return code === 0 ? /^true\n([^]*)\n$/.exec(text)?.[1] : undefined;
    },
    topOf: async (at) => {
      const { text } = await ask({ ...at, args: FIND_TOP });
      const [, bare, inside, prefix, gitDir = ''] = /^(\w+)\n(\w+)\n(.*)\n([^]*)\n$/.exec(text) ?? [];
      return { isBare: bare === 'true', isTop: inside === 'true' && prefix === '', gitDir };
    },
  };
}

/**
 * Calls `use` with a home folder that has the settings, and with a folder that replaces the repository's `commonDir`: it links to its
 * entries, but has its own `config` and no hooks, so later changes of the repository's settings have no effect. Without a
 * `commonDir` it is an empty repository. Removes both. Throws NOT_WRITABLE, and what `use` throws.
 */
async function withOwnFolders<T>(
  { settings = noSettings, commonDir }: GitCall,
  use: (home: string, common: string) => Promise<T>,
): Promise<T> {
  const home = await makeTempFolder('claude-code-bridge-git-');
  const common = join(home, 'common');
  try {
    try {
      await writeFile(join(home, '.gitconfig'), userSettingsText(settings), { mode: 0o600 });
      await mkdir(common, { mode: 0o700 });
      await writeFile(join(common, 'config'), repositorySettingsText(settings), { mode: 0o600 });
      // Without these git finds no repository at all.
      if (commonDir !== undefined)
        await Promise.all(SHARED.map((name) => symlink(join(commonDir, name), join(common, name))));
      else {
        await writeFile(join(common, 'HEAD'), 'ref: refs/heads/main\n');
        for (const name of ['objects', 'refs']) await mkdir(join(common, name));
      }
    } catch (error) {
      throw tempFolderFault(error);
    }
    return await use(home, common);
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 2 });
  }
}

async function buffered(
  call: GitCall,
  stream: (take: TakeChunk) => Promise<number>,
): Promise<{ readonly code: number; readonly bytes: Buffer }> {
  const chunks: Buffer[] = [];
  let length = 0;
  const code = await stream((chunk) => {
    length += chunk.length;
    if (length > MAX_BUFFERED_BYTES) throw failed(call, `printed more than ${MAX_BUFFERED_BYTES} bytes`);
    chunks.push(chunk);
  });
  return { code, bytes: Buffer.concat(chunks) };
}

async function runOnce(
  call: GitCall & { readonly timeLimitMs: number },
  env: Record<string, string>,
  take: TakeChunk,
): Promise<number> {
  const { cwd, signal, input, timeLimitMs } = call;
  const args = ['--no-pager', '--literal-pathspecs', ...call.args];
  const limits = { timeLimitMs, maxDataBytes: MAX_DATA_BYTES, ...(input !== undefined && { input }) };
  const end = await runProgram({ program: 'git', args, cwd, env, signal, ...limits }, take);
  switch (end.how) {
    case 'exited':
      if ((call.okCodes ?? [0]).includes(end.code)) return end.code;
      throw gitError(call, end.code, withoutTemporary(end.stderr, call, env));
    case 'killed':
      throw gitError(call, end.signal, withoutTemporary(end.stderr, call, env));
    case 'missing':
      throw new BridgeError(
        'GIT_NOT_FOUND',
        'git could not be started: it is not on PATH, or the folder was removed.',
        'Install git, and make sure that it is on the PATH of the server.',
      );
    case 'too-slow':
      throw failed(call, `did not finish within ${timeLimitMs / 1_000} seconds`);
    case 'blocked':
      throw new BridgeError(
        'GIT_FAILED',
        `git ${call.args[0] ?? ''} is blocked: a file that it reads, such as .gitignore, is a named pipe without a writer.`,
        'Remove the pipe: find . -type p shows it.',
      );
  }
}

function failed(call: GitCall, what: string): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git ${call.args[0] ?? ''} ${what}.`,
    'Limit the call with a path, or inspect the repository in a terminal.',
  );
}

/** What git printed, with the repository's own folder instead of the temporary ones of the bridge. */
function withoutTemporary(
  stderr: string,
  { commonDir = '.git' }: GitCall,
  env: Record<string, string>,
): string {
  const { GIT_COMMON_DIR: common, GIT_INDEX_FILE: index, HOME: home = '' } = env;
  const shown = index === undefined ? stderr : stderr.replaceAll(index, 'index');
  return common === undefined ? shown : shown.replaceAll(common, commonDir).replaceAll(home, '~');
}

/** The error with git's own message. */
function gitError(call: GitCall, code: number | string, stderr: string): BridgeError {
  // Hints are advice, also on the empty file of grafts that the bridge itself names.
  const said = stderr.replaceAll(/^hint:.*\n?/gm, '').trim();
  const message = oneLine(said.replaceAll(/^(fatal|error): /gm, ''), SHOWN_STDERR_CHARS);
  if (stderr.includes('dubious ownership'))
    return new BridgeError(
      'NOT_A_REPOSITORY',
      `The repository at '${call.cwd}' belongs to another user, and git does not trust it.`,
      `If the user trusts it, they can run: git config --global --add safe.directory ${JSON.stringify(call.cwd)}`,
    );
  return new BridgeError(
    stderr.includes('not a git repository') ? 'NOT_A_REPOSITORY' : 'GIT_FAILED',
    `git ${call.args[0] ?? ''} failed (${code}): ${message === '' ? 'it printed no message' : message}`,
    `The message is git’s own. ${call.changes === true ? 'Whether anything changed is unknown.' : 'Nothing was changed; repair what it names in a terminal.'}`,
  );
}

/** Splits a stream at its NUL bytes; buffers at most one field. */
export class NulFields {
  readonly #take: (field: Buffer) => void;
  #rest: Buffer = Buffer.alloc(0);

  constructor(take: (field: Buffer) => void) {
    this.#take = take;
  }

  /** Throws GIT_FAILED for a field that is too long. */
  push(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, start)) {
      this.#take(bytes.subarray(start, end));
      start = end + 1;
    }
    this.#rest = bytes.subarray(start);
    if (this.#rest.length > MAX_FIELD_BYTES) throw unreadable('a name that is too long');
  }

  /** Throws GIT_FAILED when the stream ended within a field. */
  end(): void {
    if (this.#rest.length > 0) throw unreadable('an incomplete line');
  }
}

/** The error for output that no version of git's format allows. */
export function unreadable(what: string): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `Cannot parse the output of git: it contains ${what}.`,
    'Inspect the repository in a terminal; the bridge may not support this version of git.',
  );
}
