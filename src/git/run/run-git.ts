import { BridgeError } from '../../base/errors.js';
import { gitRuns } from './git-slots.js';
import { oneLine } from '../../base/text/text.js';
import { runProgram } from '../../os/run-program.js';
import { askingEnvironment, gitEnvironment, type GitSurroundings } from './git-environment.js';
import { noSettings, settingsAmong, type GitSettings } from './git-settings.js';
import { makeOwnSettings } from './own-settings.js';

/** Clients cut a call at 60 s, and a call may need git twice. */
const TIME_LIMIT_MS = 20_000;
const SHOWN_STDERR_CHARS = 600;
/** Answers that are kept whole (names, revisions, lists of settings). */
const MAX_WHOLE_BYTES = 1_000_000;
/** The common folder comes last: its name may hold line ends. */
const WHERE: readonly string[] = [
  'rev-parse',
  '--is-inside-work-tree',
  '--path-format=absolute',
  '--git-common-dir',
];
const LIST: readonly string[] = ['config', '--list', '--show-scope', '-z'];

export interface GitCall {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly signal: AbortSignal;
  /** All that git gets to know; nothing of the user's and of the repository's when left out. */
  readonly settings?: GitSettings;
  /** The folder that the repository shares among its working trees; undefined outside of a repository. */
  readonly commonDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Exit codes that are answers; 0 when left out. */
  readonly answers?: readonly number[];
  /** What git reads; nothing when left out. */
  readonly input?: Uint8Array;
  /** For what writes many files; that of the runner when left out. */
  readonly timeLimitMs?: number;
}

export interface GitRunner {
  /** Gives every piece of output to `take` as it comes, and resolves with the exit code. Throws GIT_FAILED, GIT_NOT_FOUND. */
  stream(call: GitCall, take: (chunk: Buffer) => void): Promise<number>;
  /** The whole output, at most 1 MB. Throws as `stream`. */
  output(call: GitCall): Promise<{ readonly code: number; readonly bytes: Buffer }>;
  /** The settings that count in a folder, as far as git may know them. Throws as `stream`. */
  settings(call: Question): Promise<GitSettings>;
  /** The folder that the repository of a working tree shares with others; undefined for a folder in none. Throws as `stream`. */
  commonDir(call: Question): Promise<string | undefined>;
}

type Question = Pick<GitCall, 'cwd' | 'signal' | 'environment'>;

/** The one way in which git is run: fixed arguments, no shell, no terminal, its own process group, bounded time. */
export function gitRunner(surroundings: GitSurroundings, timeLimitMs: number = TIME_LIMIT_MS): GitRunner {
  const run = async (
    call: GitCall,
    env: Record<string, string>,
    take: (chunk: Buffer) => void,
  ): Promise<number> => {
    const slot = await gitRuns.take(call.signal);
    try {
      return await runOnce(call, { ...env, ...call.environment }, call.timeLimitMs ?? timeLimitMs, take);
    } finally {
      slot.dispose();
    }
  };
  const stream: GitRunner['stream'] = async (call, take) => {
    const own = await makeOwnSettings(call.settings ?? noSettings, call.commonDir);
    try {
      return await run(call, gitEnvironment(surroundings.path, own), take);
    } finally {
      await own.dispose();
    }
  };
  // What is asked with all settings: nothing but where a repository is, and what its settings are.
  const ask = (call: GitCall): ReturnType<GitRunner['output']> =>
    whole(call, (take) => run(call, askingEnvironment(surroundings), take));
  return {
    stream,
    output: (call) => whole(call, (take) => stream(call, take)),
    settings: async (question) => {
      const { bytes } = await ask({ ...question, args: LIST });
      return settingsAmong(bytes.toString('utf8'), surroundings);
    },
    commonDir: async (question) => {
      const { code, bytes } = await ask({ ...question, args: WHERE, answers: [0, 128] });
      const said = code === 0 ? bytes.toString('utf8') : '';
      return /^true\n([^]*)\n$/.exec(said)?.[1];
    },
  };
}

async function whole(
  call: GitCall,
  stream: (take: (chunk: Buffer) => void) => Promise<number>,
): Promise<{ readonly code: number; readonly bytes: Buffer }> {
  const chunks: Buffer[] = [];
  let length = 0;
  const code = await stream((chunk) => {
    length += chunk.length;
    if (length > MAX_WHOLE_BYTES) throw failed(call, `gave more than ${MAX_WHOLE_BYTES} bytes`);
    chunks.push(chunk);
  });
  return { code, bytes: Buffer.concat(chunks) };
}

async function runOnce(
  call: GitCall,
  env: Record<string, string>,
  timeLimitMs: number,
  take: (chunk: Buffer) => void,
): Promise<number> {
  const { cwd, signal, input } = call;
  const args = ['--no-pager', '--literal-pathspecs', ...call.args];
  const end = await runProgram(
    { program: 'git', args, cwd, env, signal, timeLimitMs, ...(input !== undefined && { input }) },
    take,
  );
  switch (end.how) {
    case 'exited':
      if ((call.answers ?? [0]).includes(end.code)) return end.code;
      throw gitError(call, end.code, end.stderr);
    case 'killed':
      throw gitError(call, end.signal, end.stderr);
    case 'missing':
      throw new BridgeError(
        'GIT_NOT_FOUND',
        'git could not be started: there is no such program on PATH, or the folder is gone.',
        'Install git, and make sure that it is on the PATH of the server.',
      );
    case 'too-slow':
      throw failed(call, `did not end within ${timeLimitMs / 1_000} seconds`);
    case 'blocked':
      throw new BridgeError(
        'GIT_FAILED',
        `git ${call.args[0] ?? ''} waits for a pipe that nobody writes to, where a file such as .gitignore is expected.`,
        'Ask the user to remove the pipe: find . -type p shows it.',
      );
  }
}

function failed(call: GitCall, what: string): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git ${call.args[0] ?? ''} ${what}.`,
    'Ask for less with a path, or look at the repository in a terminal.',
  );
}

/** The error in git's own words. */
function gitError(call: GitCall, code: number | string, stderr: string): BridgeError {
  const words = oneLine(stderr.trim().replaceAll(/^(fatal|error): /gm, ''), SHOWN_STDERR_CHARS);
  const isDubious = stderr.includes('dubious ownership');
  return new BridgeError(
    isDubious ? 'NOT_A_REPOSITORY' : 'GIT_FAILED',
    isDubious
      ? `The repository at '${call.cwd}' belongs to another user, and git does not trust it.`
      : `git ${call.args[0] ?? ''} failed (${code}): ${words === '' ? 'it said nothing' : words}`,
    isDubious
      ? `If the user trusts it, they can run: git config --global --add safe.directory ${JSON.stringify(call.cwd)}`
      : 'The words are git’s own. Nothing is known of the changes.',
  );
}
