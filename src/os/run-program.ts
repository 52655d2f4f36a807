import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { systemCodeOf } from '../base/errors.js';
import { toDisposable, type Disposable } from '../base/lifecycle.js';
import { signalGroupOf } from './send-signals.js';

/** Between SIGTERM and SIGKILL: time for git to remove its lock files. Then between SIGKILL and the cut of its pipes. */
const KILL_GRACE_MS = 500;
const LIMITED = 'ulimit -d "$1" 2>/dev/null; shift; exec "$@"';
/** How a shell exits that does not find the program. */
const NOT_FOUND = 127;
/** How much of a program's stderr is read; the rest is dropped. */
const MAX_STDERR_BYTES = 4_096;

/** How often it is checked whether a program waits for a pipe: most have ended before the first check. */
const POLL_MS = 100;
/** The kernel functions in which a thread waits for the other end of a FIFO (fs/pipe.c); a compiler may inline the first into the second. */
const WAITING_FUNCTIONS: readonly string[] = ['wait_for_partner', 'fifo_open'];

export interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeLimitMs: number;
  /** The program's stdin; empty by default. */
  readonly input?: Uint8Array;
  /**
   * Data that it may hold, in bytes: the kernel refuses it more, and it fails. For programs that a repository can make hold everything, such as
   * by a `.gitignore` that is a link to `/dev/zero`. Not enforced on macOS.
   */
  readonly maxDataBytes?: number;
  /** What the group gets when this process exits first; SIGTERM by default. SIGKILL is for what only reads. */
  readonly atExit?: NodeJS.Signals;
}

/** Takes a chunk of output; with a promise, the next one comes when it resolves. */
export type TakeChunk = (chunk: Buffer) => void | Promise<void>;

export type ProgramEnd =
  | { readonly how: 'exited'; readonly code: number; readonly stderr: string }
  | { readonly how: 'killed'; readonly signal: string; readonly stderr: string }
  /** There is no such program, or `cwd` is gone. */
  | { readonly how: 'missing' }
  | { readonly how: 'too-slow' }
  /** It waited for a named pipe that no one writes to, and was ended. Only Linux reports this. */
  | { readonly how: 'blocked' };

/**
 * Runs a program without a shell or terminal, in its own process group and in bounded time. `take` gets each chunk of its stdout,
 * ends the program by throwing, and may return a promise: until it resolves, the program waits, and its time does not run.
 * A process that left the group and holds the pipes open is not waited for. Rejects with what `take` threw, or with the signal's reason.
 */
export async function runProgram(call: ProgramCall, take: TakeChunk): Promise<ProgramEnd> {
  call.signal.throwIfAborted();
  const [program = '', ...args] = commandOf(call);
  const child = spawn(program, args, {
    cwd: call.cwd,
    env: { ...call.env },
    stdio: 'pipe',
    // Makes it a group leader, so that its children can be ended with it.
    detached: true,
  });
  const stderr = headOf(child.stderr);
  const atExit = endAtExit(child, call.atExit ?? 'SIGTERM');
  return new Promise((resolve, reject) => {
    let isEnded = false;
    let killing: Disposable | undefined;
    const killSoon = (): void => {
      killing ??= killAndCut(child, {
        isReading: () => !isEnded && watches.isReading(),
        onCut: () => close(child.exitCode, child.signalCode),
      });
    };
    let finish = (code: number | null, signal: string | null): void => {
      if (code === null) resolve({ how: 'killed', signal: signal ?? 'no exit code', stderr: stderr() });
      else if (code === NOT_FOUND && call.maxDataBytes !== undefined) resolve({ how: 'missing' });
      else resolve({ how: 'exited', code, stderr: stderr() });
    };
    const end = (instead: () => void): void => {
      if (isEnded) return;
      isEnded = true;
      finish = instead;
      child.stdout.removeAllListeners('data').resume();
      signalGroupOf(child, 'SIGTERM');
      killSoon();
    };
    const watches = watching(child, call, end, { resolve, reject });
    // A program may end before it has read everything: its exit code says more than the broken pipe.
    child.stdin.on('error', () => undefined).end(call.input);
    const fail = (thrown: unknown): void => end(() => reject(asError(thrown)));
    child.stdout.on('data', (chunk: Buffer) => {
      watches.read();
      try {
        const taken = take(chunk);
        if (!(taken instanceof Promise)) return;
        child.stdout.pause();
        watches.hold();
        taken.then(() => {
          watches.goOn();
          child.stdout.resume();
        }, fail);
      } catch (thrown) {
        fail(thrown);
      }
    });
    const dispose = (): void => {
      watches.dispose();
      killing?.dispose();
      atExit.dispose();
    };
    const close = (code: number | null, signal: string | null): void => {
      dispose();
      finish(code, signal);
    };
    child.on('error', (thrown) => {
      dispose();
      if (systemCodeOf(thrown) === 'ENOENT') resolve({ how: 'missing' });
      else reject(thrown);
    });
    // Its children may keep its pipes open.
    child.on('exit', killSoon);
    child.on('close', close);
  });
}

/** The shell becomes the program, with the same pid. */
function commandOf({ program, args, maxDataBytes }: ProgramCall): readonly string[] {
  if (maxDataBytes === undefined) return [program, ...args];
  return ['/bin/sh', '-c', LIMITED, 'sh', `${Math.floor(maxDataBytes / 1024)}`, program, ...args];
}

/**
 * Kills what is left of the program's group after the grace. After another grace without output its pipes are closed, since a
 * process outside of the group may hold them open.
 */
function killAndCut(
  child: ChildProcessWithoutNullStreams,
  { isReading, onCut }: { readonly isReading: () => boolean; readonly onCut: () => void },
): Disposable {
  const cut = (): void => {
    if (isReading()) {
      timer = setTimeout(cut, KILL_GRACE_MS);
      return;
    }
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
    onCut();
  };
  let timer = setTimeout(() => {
    signalGroupOf(child, 'SIGKILL');
    isReading();
    timer = setTimeout(cut, KILL_GRACE_MS);
  }, KILL_GRACE_MS);
  return toDisposable(() => clearTimeout(timer));
}

/** Ends the program when it takes too long, when it waits for a named pipe, and when the call is cancelled. */
function watching(
  child: ChildProcess,
  { signal, timeLimitMs }: ProgramCall,
  end: (instead: () => void) => void,
  { resolve, reject }: { readonly resolve: (end: ProgramEnd) => void; readonly reject: (why: Error) => void },
) {
  const tooSlow = (): void => end(() => resolve({ how: 'too-slow' }));
  let leftMs = timeLimitMs;
  let sinceMs = performance.now();
  let isOver = false;
  let isHeld = false;
  let hasRead = false;
  let timer = setTimeout(tooSlow, leftMs);
  // A program that reads ignore files would wait forever for a FIFO with such a name.
  const pipeWatch = setInterval(() => {
    if (child.pid !== undefined && waitsForPipe(child.pid)) end(() => resolve({ how: 'blocked' }));
  }, POLL_MS);
  const onAbort = (): void => end(() => reject(asError(signal.reason)));
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    /** Output came. */
    read: () => {
      hasRead = true;
    },
    /** Whether output came since the last call, or is being taken now. */
    isReading: () => {
      const was = hasRead || isHeld;
      hasRead = false;
      return was;
    },
    /** The time of the program does not run until `goOn`. */
    hold: () => {
      isHeld = true;
      clearTimeout(timer);
      leftMs -= performance.now() - sinceMs;
    },
    goOn: () => {
      isHeld = false;
      sinceMs = performance.now();
      if (!isOver) timer = setTimeout(tooSlow, Math.max(0, leftMs));
    },
    dispose: () => {
      isOver = true;
      clearTimeout(timer);
      clearInterval(pipeWatch);
      signal.removeEventListener('abort', onAbort);
    },
  };
}

/** True when a thread of the process waits for the other end of a FIFO. Always false without `wchan` in /proc (proc(5)). */
function waitsForPipe(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).some((thread) =>
      WAITING_FUNCTIONS.includes(readFileSync(`/proc/${pid}/task/${thread}/wchan`, 'latin1')),
    );
  } catch (thrown) {
    // The process has ended, or this system has no /proc.
    if (systemCodeOf(thrown) !== undefined) return false;
    throw thrown;
  }
}

/** Collects the first bytes of a stream; the function returns them as text. */
function headOf(stream: Readable): () => string {
  let head = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    if (head.length < MAX_STDERR_BYTES) head = Buffer.concat([head, chunk]).subarray(0, MAX_STDERR_BYTES);
  });
  return () => head.toString('utf8');
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('The call was cancelled.');
}

const running = new Map<ChildProcess, NodeJS.Signals>();

/** Sends `name` to the group of `child`, its leader, when this process exits before that is disposed. */
export function endAtExit(child: ChildProcess, name: NodeJS.Signals): Disposable {
  if (running.size === 0) process.on('exit', endAll);
  running.set(child, name);
  return toDisposable(() => {
    running.delete(child);
    if (running.size === 0) process.off('exit', endAll);
  });
}

function endAll(): void {
  for (const [child, name] of running) signalGroupOf(child, name);
}
