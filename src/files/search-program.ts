import { spawn } from 'node:child_process';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { gitRuns } from '../base/git-slots.js';
import { oneLine } from '../base/text.js';
import { signalGroupOf } from '../os/send-signals.js';
import { watchForPipe } from '../base/waits-for-pipe.js';

/** Clients cut a call at 60 s; what takes longer here is a trap, or a network folder that is gone. */
const TIME_LIMIT_MS = 20_000;
const MAX_STDERR_BYTES = 4_096;
const SHOWN_STDERR_CHARS = 400;

export interface ProgramCall {
  readonly program: 'git' | 'rg';
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeLimitMs?: number;
}

export interface RunningProgram {
  /** Resolves when what was written may be followed by more. */
  write(text: string): Promise<void>;
  /** No more input follows. */
  end(): void;
  /** Ends it, whatever it does. */
  kill(): void;
  /** The exit code; `missing` when there is no such program. Rejects when it was cancelled or took too long. */
  readonly ended: Promise<number | 'missing'>;
  /** What it said on stderr so far. */
  stderr(): string;
}

/** As `runProgram`, for one that ends by itself: it waits until few others run. */
export async function runInTurn(call: ProgramCall, take: (chunk: Buffer) => void): Promise<RunningProgram> {
  const slot = await gitRuns.take(call.signal);
  try {
    const program = runProgram(call, take);
    program.ended.then(
      () => slot.dispose(),
      () => slot.dispose(),
    );
    return program;
  } catch (thrown) {
    slot.dispose();
    throw thrown;
  }
}

/** Starts a program without a shell in a process group of its own; `take` gets its output, and ends it by throwing. */
export function runProgram(call: ProgramCall, take: (chunk: Buffer) => void): RunningProgram {
  call.signal.throwIfAborted();
  const child = spawn(call.program, [...call.args], {
    cwd: call.cwd,
    env: { ...call.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let fault: unknown;
  let stderr = Buffer.alloc(0);
  const kill = (): void => void signalGroupOf(child, 'SIGKILL');
  const stop = (why: unknown): void => {
    fault ??= why;
    child.stdout.removeAllListeners('data').resume();
    kill();
  };
  const limitMs = call.timeLimitMs ?? TIME_LIMIT_MS;
  const timer = setTimeout(() => stop(tookTooLong(call, limitMs)), limitMs);
  const pipeWatch = watchForPipe(child.pid, () => stop(waitsInVain(call)));
  const onAbort = (): void => stop(call.signal.reason);
  call.signal.addEventListener('abort', onAbort, { once: true });
  child.stdout.on('data', (chunk: Buffer) => {
    try {
      take(chunk);
    } catch (thrown) {
      stop(thrown);
    }
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < MAX_STDERR_BYTES) stderr = Buffer.concat([stderr, chunk]);
  });
  // A program that ends early closes its input; its exit code says why.
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number | 'missing'>((resolve, reject) => {
    const settle = (finish: () => void): void => {
      clearTimeout(timer);
      pipeWatch.dispose();
      call.signal.removeEventListener('abort', onAbort);
      finish();
    };
    child.on('error', (thrown) =>
      settle(() => (systemCodeOf(thrown) === 'ENOENT' ? resolve('missing') : reject(thrown))),
    );
    child.on('close', (code) =>
      settle(() => {
        if (fault === undefined) resolve(code ?? -1);
        else reject(fault instanceof Error ? fault : new Error('The call was cancelled.'));
      }),
    );
  });
  // Whoever waits for it hears of it; nobody may.
  ended.catch(() => undefined);
  return {
    write: (text) =>
      new Promise((resolve) => {
        child.stdin.write(text, () => resolve());
      }),
    end: () => void child.stdin.end(),
    kill,
    ended,
    stderr: () => oneLine(stderr.toString('utf8').trim(), SHOWN_STDERR_CHARS),
  };
}

function waitsInVain(call: ProgramCall): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `${call.program} waits for a pipe that nobody writes to, in the place of an ignore file.`,
    'Ask the user to remove the pipe: find . -type p shows it.',
  );
}

function tookTooLong(call: ProgramCall, limitMs: number): BridgeError {
  return new BridgeError(
    'GIT_FAILED',
    `${call.program} did not end within ${limitMs / 1_000} seconds.`,
    'Ask for a smaller folder with path.',
  );
}
