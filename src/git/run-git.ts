import { spawn } from 'node:child_process';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { gitRuns } from '../base/git-slots.js';
import { oneLine } from '../base/text.js';
import { signalGroupOf } from '../os/send-signals.js';
import { watchForPipe } from '../base/waits-for-pipe.js';
import { askingEnvironment, gitEnvironment, type GitSurroundings } from './git-environment.js';
import { noSettings, settingsAmong, type GitSettings } from './git-settings.js';
import { makeOwnSettings } from './own-settings.js';

/** Clients cut a call at 60 s, and a call may need git twice. */
const TIME_LIMIT_MS = 20_000;
/** Between asking git to end and ending it: it removes its lock files in this time. */
const KILL_GRACE_MS = 500;
/** What git says of a fault; the rest is dropped. */
const MAX_STDERR_BYTES = 4_096;
const SHOWN_STDERR_CHARS = 600;
/** Answers that are kept whole (names, revisions, lists of settings). */
const MAX_WHOLE_BYTES = 1_000_000;
const WHERE: readonly string[] = ['rev-parse', '--path-format=absolute', '--git-common-dir'];
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
  /** The folder that the repository of a folder shares among its working trees; undefined where git finds none. Throws as `stream`. */
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
      return code === 0 ? bytes.toString('utf8').replace(/\n$/, '') : undefined;
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
  call.signal.throwIfAborted();
  const child = spawn('git', ['--no-pager', '--literal-pathspecs', ...call.args], {
    cwd: call.cwd,
    env,
    stdio: 'pipe',
    // A process group of its own: what git started is ended with it.
    detached: true,
  });
  return new Promise((resolve, reject) => {
    let fault: unknown;
    let stderr = Buffer.alloc(0);
    let killTimer: NodeJS.Timeout | undefined;
    const end = (why: unknown): void => {
      if (fault !== undefined) return;
      fault = why;
      child.stdout.removeAllListeners('data').resume();
      signalGroupOf(child, 'SIGTERM');
      killTimer = setTimeout(() => signalGroupOf(child, 'SIGKILL'), KILL_GRACE_MS);
    };
    const timer = setTimeout(
      () => end(failed(call, `did not end within ${timeLimitMs / 1_000} seconds`)),
      timeLimitMs,
    );
    const pipeWatch = watchForPipe(child.pid, () => end(waitsInVain(call)));
    const onAbort = (): void => end(call.signal.reason ?? new Error('cancelled'));
    call.signal.addEventListener('abort', onAbort, { once: true });
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      pipeWatch.dispose();
      clearTimeout(killTimer);
      call.signal.removeEventListener('abort', onAbort);
      finish();
    };
    // git may end before it has read all: its exit code tells more than the broken pipe.
    child.stdin.on('error', () => undefined).end(call.input);
    child.stdout.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (thrown) {
        end(thrown);
      }
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES)
        stderr = Buffer.concat([stderr, chunk]).subarray(0, MAX_STDERR_BYTES);
    });
    child.on('error', (thrown) => settle(() => reject(startFault(thrown))));
    child.on('exit', () => {
      // What git started may hold the pipes open: it gets as long as git got, then it goes too.
      killTimer ??= setTimeout(() => signalGroupOf(child, 'SIGKILL'), KILL_GRACE_MS);
    });
    child.on('close', (code, signal) =>
      settle(() => {
        if (fault !== undefined) reject(fault instanceof Error ? fault : new Error('git was ended'));
        else if (code !== null && (call.answers ?? [0]).includes(code)) resolve(code);
        else reject(gitFault(call, code ?? signal ?? 'no exit code', stderr.toString('utf8')));
      }),
    );
  });
}

function startFault(thrown: Error): Error {
  if (systemCodeOf(thrown) !== 'ENOENT') return thrown;
  return new BridgeError(
    'GIT_NOT_FOUND',
    'git could not be started: there is no such program on PATH, or the folder is gone.',
    'Install git, and see that it is on the PATH of the server.',
  );
}

function failed(call: GitCall, what: string): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git ${call.args[0] ?? ''} ${what}.`,
    'Ask for less with a path, or look at the repository in a terminal.',
  );
}

function waitsInVain(call: GitCall): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `git ${call.args[0] ?? ''} waits for a pipe that nobody writes to, in the place of a file of the repository such as .gitignore.`,
    'Ask the user to remove the pipe: find . -type p shows it.',
  );
}

/** The fault in git's own words. */
function gitFault(call: GitCall, code: number | string, stderr: string): BridgeError {
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
