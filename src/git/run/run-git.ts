import { BridgeError } from '../../base/errors.js';
import { gitRuns } from './git-slots.js';
import { oneLine } from '../../base/text.js';
import { runProgram, type TakeChunk } from '../../os/run-program.js';
import { queryEnvironment, gitEnvironment, type GitContext } from './git-environment.js';
import { noSettings, settingsAmong, type GitSettings } from './git-settings.js';
import { makeTemporarySettings } from './temporary-settings.js';

/** git needs a tenth of it for large repositories; a hostile one can make it hold everything. */
const MAX_DATA_BYTES = 1024 ** 3;
/** Clients abort a call after 60 s, and a call may run git twice. */
const TIME_LIMIT_MS = 20_000;
const SHOWN_STDERR_CHARS = 600;
/** Limit for output that is buffered (names, revisions, lists of settings). */
const MAX_BUFFERED_BYTES = 1_000_000;
/** The common folder comes last, since its name may contain line ends. */
const FIND_COMMON_DIR: readonly string[] = [
  'rev-parse',
  '--is-inside-work-tree',
  '--path-format=absolute',
  '--git-common-dir',
];
const FIND_TOP: readonly string[] = [
  'rev-parse',
  '--is-bare-repository',
  '--is-inside-work-tree',
  '--show-prefix',
  '--absolute-git-dir',
];
const LIST_SETTINGS: readonly string[] = ['config', '--list', '--show-scope', '-z'];

export interface GitCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  /** The settings that git may see; default: none of the user's and the repository's. */
  readonly settings?: GitSettings;
  /** The folder that the repository shares among its working trees; undefined outside a repository. */
  readonly commonDir?: string;
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

type GitLocation = Pick<GitCall, 'cwd' | 'signal' | 'environment'>;

/** All runs of git go through this: fixed arguments, no shell, no terminal, its own process group, bounded time. */
export function gitRunner(context: GitContext, timeLimitMs: number = TIME_LIMIT_MS): GitRunner {
  const run = async (call: GitCall, env: Record<string, string>, take: TakeChunk): Promise<number> => {
    const slot = await gitRuns.take(call.signal);
    try {
      return await runOnce(call, { ...env, ...call.environment }, call.timeLimitMs ?? timeLimitMs, take);
    } finally {
      slot.dispose();
    }
  };
  const stream: GitRunner['stream'] = async (call, take) => {
    const own = await makeTemporarySettings(call.settings ?? noSettings, call.commonDir);
    try {
      return await run(call, gitEnvironment(context.path, own), take);
    } finally {
      await own.dispose();
    }
  };
  // Runs git with all settings, which is only safe for finding a repository and listing its settings.
  const ask = (call: GitCall): ReturnType<GitRunner['output']> =>
    buffered(call, (take) => run(call, queryEnvironment(context), take));
  return {
    stream,
    output: (call) => buffered(call, (take) => stream(call, take)),
    settings: async (location) => {
      const { bytes } = await ask({ ...location, args: LIST_SETTINGS });
      return settingsAmong(bytes.toString('utf8'), context);
    },
    commonDir: async (location) => {
      const { code, bytes } = await ask({ ...location, args: FIND_COMMON_DIR, okCodes: [0, 128] });
      const text = code === 0 ? bytes.toString('utf8') : '';
      return /^true\n([^]*)\n$/.exec(text)?.[1];
    },
    topOf: async (location) => {
      const { bytes } = await ask({ ...location, args: FIND_TOP });
      const [, bare, inside, prefix, gitDir = ''] =
        /^(\w+)\n(\w+)\n(.*)\n([^]*)\n$/.exec(bytes.toString('utf8')) ?? [];
      return { isBare: bare === 'true', isTop: inside === 'true' && prefix === '', gitDir };
    },
  };
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
  call: GitCall,
  env: Record<string, string>,
  timeLimitMs: number,
  take: TakeChunk,
): Promise<number> {
  const { cwd, signal, input } = call;
  const args = ['--no-pager', '--literal-pathspecs', ...call.args];
  const end = await runProgram(
    {
      program: 'git',
      args,
      cwd,
      env,
      signal,
      timeLimitMs,
      maxDataBytes: MAX_DATA_BYTES,
      ...(input !== undefined && { input }),
    },
    take,
  );
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
        'Ask the user to remove the pipe: find . -type p shows it.',
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
  const isDubious = stderr.includes('dubious ownership');
  return new BridgeError(
    isDubious ? 'NOT_A_REPOSITORY' : 'GIT_FAILED',
    isDubious
      ? `The repository at '${call.cwd}' belongs to another user, and git does not trust it.`
      : `git ${call.args[0] ?? ''} failed (${code}): ${message === '' ? 'it printed no message' : message}`,
    isDubious
      ? `If the user trusts it, they can run: git config --global --add safe.directory ${JSON.stringify(call.cwd)}`
      : `The message is git’s own. ${call.changes === true ? 'Whether anything changed is unknown.' : 'Nothing was changed; repair what it names in a terminal.'}`,
  );
}
