import { spawn, type ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { withinMs, type Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { plainText } from '../base/text.js';
import { pidOf } from '../os/pid.js';
import { killTree } from '../pty/kill-ladder.js';

/** Of the output, kept in memory from its beginning and from its end. */
const HEAD_BYTES = 2_048;
const TAIL_BYTES = 6_144;
/** More than that is not kept in the file either. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const GRACE_MS = 1_000;
const READ_LIMIT_MS = 5_000;
const OWNER_ONLY = 0o600;
/** No stdin and no terminal; errors in their place between the output. */
const WORDS = 'exec 2>&1 </dev/null; "$@"; exit $?';

/** One command line. */
export interface CommandLine {
  readonly command: string;
  readonly cwd: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Where all of the output goes. */
  readonly outputFile: string;
}

export interface CommandEnd {
  /** Undefined for a command that a signal ended. */
  readonly code?: number;
  readonly signal?: string;
  /** `limit`: its time was over. `stopped`: the caller ended it. `failed`: it did not run, for this reason. */
  readonly how: 'exited' | 'limit' | 'stopped' | { readonly failed: string };
  readonly seconds: number;
  readonly output: string;
  readonly outputBytes: number;
}

/**
 * Runs a command line, without a terminal, until it exits, its time is over or the signal aborts; then no process of it is left. Never
 * rejects for what the command does.
 */
export type RunLine = (line: CommandLine) => Promise<CommandEnd>;

/** Runs nothing, for a reason. */
export function noLines(why: string): RunLine {
  return () => Promise.resolve({ how: { failed: why }, seconds: 0, output: '', outputBytes: 0 });
}

export interface HostLines {
  readonly shell: string;
  /** All of it; every process of the command has `mark` in it. */
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  /** The `startId` of the process that made the mark. */
  readonly startedSince: string | undefined;
  readonly clock: Clock;
  /** Confines the words of a command, and reads from its end whether it did. */
  readonly sandbox?: Sandbox | undefined;
}

export interface Sandbox {
  /** The words that run these words inside. */
  words(inside: readonly string[]): readonly string[];
  /** What the end of those words says of the ones inside: their exit code, or why they did not run. */
  codeOf(code: number, output: string): number | { readonly failed: string };
}

/** Runs command lines on this machine, by a shell. Rejects when their processes cannot be listed. */
export function hostLines({ shell, env, mark, startedSince, clock, sandbox }: HostLines): RunLine {
  return async ({ command, cwd, outputFile, ...limits }) => {
    const startMs = clock.monotonicMs();
    const kept = new KeptOutput(outputFile);
    const plain = [shell, '-c', command];
    const words = sandbox?.words(plain) ?? plain;
    const child = spawn('/bin/sh', ['-c', WORDS, 'sh', ...words], {
      cwd,
      env: { ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    });
    const reading = kept.read(child.stdout);
    const how = await endOf(exited(child), limits, clock);
    // Also what the command left behind, which may hold its output open.
    await killTree({ pid: pidOf(child.pid), isWrapped: false, mark, startedSince, graceMs: GRACE_MS, clock });
    // Nothing holds the output open any more, unless the system does not let it end.
    await withinMs(clock, READ_LIMIT_MS, reading);
    child.stdout.destroy();
    const { exitCode, signalCode: signal } = child;
    const inside = exitCode === null ? undefined : (sandbox?.codeOf(exitCode, kept.text()) ?? exitCode);
    return {
      how: typeof inside === 'object' && how === 'exited' ? inside : how,
      ...(typeof inside === 'number' && { code: inside }),
      ...(signal !== null && { signal }),
      ...kept.facts(startMs, clock),
    };
  };
}

function exited(child: ChildProcess): Promise<CommandEnd['how']> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve('exited'));
    child.once('error', (error) => resolve({ failed: `it could not be started: ${messageOf(error)}` }));
  });
}

/** How a command ended: on its own, at its limit, or by the signal. */
export async function endOf(
  exit: Promise<CommandEnd['how']>,
  { limitMs, signal }: Pick<CommandLine, 'limitMs' | 'signal'>,
  clock: Clock,
): Promise<CommandEnd['how']> {
  const stopped = new Promise<'stopped'>((resolve) => {
    const stop = (): void => resolve('stopped');
    signal.addEventListener('abort', stop, { once: true });
    void exit.finally(() => signal.removeEventListener('abort', stop));
    if (signal.aborted) stop();
  });
  return (await withinMs(clock, limitMs, Promise.race([exit, stopped]))) ?? 'limit';
}

/** The beginning and the end of an output, and all of it in a file. */
export class KeptOutput {
  #bytes = 0;
  readonly #file: string;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);

  constructor(file: string) {
    this.#file = file;
  }

  /** Resolves when the stream has ended or was destroyed. A disk that takes no more does not hold it up. */
  async read(stream: Readable): Promise<void> {
    const file = createWriteStream(this.#file, { mode: OWNER_ONLY });
    file.on('error', () => undefined);
    const write = (chunk: Buffer) => new Promise<void>((resolve) => file.write(chunk, () => resolve()));
    try {
      for await (const chunk of stream) {
        const bytes = Buffer.from(chunk as Uint8Array);
        this.#keep(bytes);
        if (this.#bytes <= MAX_FILE_BYTES) await write(bytes);
      }
    } catch {
      // What could not be ended held it open, and it was closed here.
    }
    await new Promise<void>((resolve) => file.end(() => resolve()));
  }

  /** With a line about what is not shown between them. */
  text(): string {
    const left = this.#bytes - this.#head.length - this.#tail.length;
    const between = left > 0 ? `\n… ${left} bytes left out …\n` : '';
    return plainText(`${this.#head.toString()}${between}${this.#tail.toString()}`);
  }

  facts(startMs: number, clock: Clock): Pick<CommandEnd, 'seconds' | 'output' | 'outputBytes'> {
    const seconds = (clock.monotonicMs() - startMs) / 1_000;
    return { seconds, output: this.text(), outputBytes: this.#bytes };
  }

  #keep(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const room = HEAD_BYTES - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    const rest = chunk.subarray(Math.max(0, room));
    this.#tail = Buffer.concat([this.#tail, rest]).subarray(-TAIL_BYTES);
  }
}
