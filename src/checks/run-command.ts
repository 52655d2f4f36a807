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
const WORDS = 'exec 2>&1 </dev/null; "$0" -c "$1"; exit $?';

export interface CommandOptions {
  readonly shell: string;
  readonly command: string;
  readonly cwd: string;
  /** All of it; every process of the command has `mark` in it. */
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  /** The `startId` of the process that made the mark. */
  readonly startedSince: string | undefined;
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Where all of the output goes. */
  readonly outputFile: string;
  readonly clock: Clock;
}

export interface CommandEnd {
  /** Undefined for a command that a signal ended. */
  readonly code?: number;
  readonly signal?: string;
  /** `limit`: its time was over. `stopped`: the caller ended it. `failed`: it could not be started, for this reason. */
  readonly how: 'exited' | 'limit' | 'stopped' | { readonly failed: string };
  readonly seconds: number;
  readonly output: string;
  readonly outputBytes: number;
}

/**
 * Runs a command line by a shell, without a terminal, until it exits, its time is over or the signal aborts. Then no process of it is
 * left: what carries its mark is ended. Never rejects for what the command does; rejects when its processes cannot be listed.
 */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { shell, command, cwd, env, mark, startedSince, clock, outputFile } = options;
  const startMs = clock.monotonicMs();
  const kept = new KeptOutput(outputFile);
  const child = spawn(shell, ['-c', WORDS, shell, command], {
    cwd,
    env: { ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const reading = kept.read(child.stdout);
  const how = await endOf(child, options);
  // Also what the command left behind, which may hold its output open.
  await killTree({ pid: pidOf(child.pid), isWrapped: false, mark, startedSince, graceMs: GRACE_MS, clock });
  // Nothing holds the output open any more, unless the system does not let it end.
  await withinMs(clock, READ_LIMIT_MS, reading);
  child.stdout.destroy();
  const { exitCode: code, signalCode: signal } = child;
  return {
    how,
    ...(code !== null && { code }),
    ...(signal !== null && { signal }),
    seconds: (clock.monotonicMs() - startMs) / 1_000,
    output: plainText(kept.text()),
    outputBytes: kept.bytes,
  };
}

async function endOf(
  child: ChildProcess,
  { limitMs, signal, clock }: CommandOptions,
): Promise<CommandEnd['how']> {
  return new Promise((resolve) => {
    const limit = clock.after(limitMs, () => end('limit'));
    const onAbort = (): void => end('stopped');
    const end = (how: CommandEnd['how']): void => {
      limit.dispose();
      signal.removeEventListener('abort', onAbort);
      resolve(how);
    };
    signal.addEventListener('abort', onAbort);
    child.once('exit', () => end('exited'));
    child.once('error', (error) => end({ failed: messageOf(error) }));
    if (signal.aborted) end('stopped');
  });
}

/** The beginning and the end of an output, and all of it in a file. */
class KeptOutput {
  bytes = 0;
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
        if (this.bytes <= MAX_FILE_BYTES) await write(bytes);
      }
    } catch {
      // What could not be ended held it open, and it was closed here.
    }
    await new Promise<void>((resolve) => file.end(() => resolve()));
  }

  /** With a line about what is not shown between them. */
  text(): string {
    const left = this.bytes - this.#head.length - this.#tail.length;
    const between = left > 0 ? `\n… ${left} bytes left out …\n` : '';
    return `${this.#head.toString()}${between}${this.#tail.toString()}`;
  }

  #keep(chunk: Buffer): void {
    this.bytes += chunk.length;
    const room = HEAD_BYTES - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    const rest = chunk.subarray(Math.max(0, room));
    this.#tail = Buffer.concat([this.#tail, rest]).subarray(-TAIL_BYTES);
  }
}
