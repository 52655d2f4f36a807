import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { sleep, withinMs, type Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { plainText } from '../base/text.js';
import { MARK_VARIABLE } from '../os/mark-variable.js';
import { pidOf } from '../os/pid.js';
import { killTree } from '../pty/kill-ladder.js';
import type { CheckResult } from './result.js';

/** Of the output, kept in memory from its beginning and from its end. */
const HEAD_BYTES = 2_048;
const TAIL_BYTES = 6_144;
/** More than that is not kept in the file either. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
const GRACE_MS = 1_000;
/** From the end of a command until its output has. */
const READ_LIMIT_MS = 5_000;
const OWNER_ONLY = 0o600;
/**
 * No stdin and no terminal; errors in their place between the output. The pipe that is its stdin ends with this process, however that
 * ends, and then the group of the command does.
 */
const WORDS = `exec 3<&0 2>&1 </dev/null
{ read -r _ <&3; kill -9 -$$; } >/dev/null 2>&1 &
exec 3<&-; "$@"
code=$?; kill $!; exit $code`;
/** How a POSIX shell exits for a command that it may not run, or does not find (POSIX, 2.8.2). */
const notRunWords: Readonly<Record<number, string>> = {
  126: 'the shell may not run the command (exit code 126)',
  127: 'the shell did not find the command (exit code 127)',
};

/** One command line. */
export interface CommandLine {
  readonly command: string;
  readonly cwd: string;
  readonly limitSeconds: number;
  readonly signal: AbortSignal;
  /** Where all of the output goes. */
  readonly outputFile: string;
}

/**
 * Runs a command line, without a terminal, until it exits, its time is over or the signal aborts; then no process of it is left. Never
 * rejects: what did not run, or could not be ended, is `not run`.
 */
export type RunLine = (line: CommandLine) => Promise<Omit<CheckResult, 'name' | 'command'>>;

/** A command line that was started. */
export interface StartedLine {
  readonly stdout: Readable;
  /** With the exit code, or the signal that ended it. Rejects where nothing was started. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** Ends it, if it still runs, with all that it started. */
  readonly end: (isOver: boolean) => Promise<unknown>;
  /** The exit code of the command for that of what it ran in. Throws with why it did not run. */
  readonly codeOf?: ((code: number, output: string) => number) | undefined;
}

/** Runs what `start` begins. Its error says why a command did not run. */
export function lineRunner(clock: Clock, start: (line: CommandLine) => Promise<StartedLine>): RunLine {
  return async (line) => {
    const startMs = clock.monotonicMs();
    const kept = keptOutput(line.outputFile);
    const verdict = await verdictOf(line, clock, kept, start).catch((error: unknown) => ({
      verdict: 'not run' as const,
      why: messageOf(error),
    }));
    const seconds = Math.round(clock.monotonicMs() - startMs) / 1_000;
    return { ...verdict, seconds, output: kept.text(), output_file: line.outputFile };
  };
}

async function verdictOf(
  line: CommandLine,
  clock: Clock,
  kept: ReturnType<typeof keptOutput>,
  start: (line: CommandLine) => Promise<StartedLine>,
): Promise<Pick<CheckResult, 'verdict' | 'why' | 'exit_code'>> {
  const { limitSeconds, signal } = line;
  const started = await start(line);
  const reading = kept.read(started.stdout);
  const over = new AbortController();
  const until = sleep(clock, limitSeconds * 1_000, AbortSignal.any([signal, over.signal]));
  const how = await Promise.race([started.exited, until.then(() => undefined)]).finally(() => over.abort());
  await started.end(how !== undefined);
  // Nothing holds the output open any more, unless the system does not let it end.
  await withinMs(clock, READ_LIMIT_MS, reading);
  started.stdout.destroy();
  if (how === undefined)
    return signal.aborted
      ? { verdict: 'not run', why: 'it was stopped before its end' }
      : { verdict: 'not met', why: `it ran longer than ${limitSeconds} s and was ended` };
  if (typeof how === 'string') return { verdict: 'not met', why: `the signal ${how} ended it` };
  const exit_code = started.codeOf?.(how, kept.text()) ?? how;
  if (exit_code === 0) return { verdict: 'met', exit_code };
  const why = notRunWords[exit_code];
  return why === undefined
    ? { verdict: 'not met', why: `exit code ${exit_code}`, exit_code }
    : { verdict: 'not run', why, exit_code };
}

export interface HostLines {
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
  /** Variables that it does not get: keys of the session. */
  readonly without?: readonly string[];
  /** Every process of the command has it. */
  readonly mark: string;
  /** The `startId` of the process that made the mark. */
  readonly startedSince: string | undefined;
  readonly clock: Clock;
  readonly sandbox?: Sandbox | undefined;
}

/** Confines the words of a command. */
export interface Sandbox extends Pick<StartedLine, 'codeOf'> {
  /** The words that run these words inside. */
  words(inside: readonly string[]): readonly string[];
}

/** Runs command lines on this machine, by a shell. */
export function hostLines({
  shell,
  without = [],
  mark,
  startedSince,
  clock,
  sandbox,
  ...given
}: HostLines): RunLine {
  const kept = Object.entries(given.env).filter(([name]) => !without.includes(name));
  const env = { ...Object.fromEntries(kept), [MARK_VARIABLE]: mark };
  return lineRunner(clock, async ({ command, cwd }) => {
    const plain = [shell, '-c', command];
    const words = sandbox?.words(plain) ?? plain;
    const child = spawn('/bin/sh', ['-c', WORDS, 'sh', ...words], {
      ...{ cwd, env, detached: true },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // It reads nothing, and may be gone before.
    child.stdin.on('error', () => undefined);
    return {
      stdout: child.stdout,
      exited: new Promise((resolve, reject) => {
        child.once('exit', (code, name) => resolve(code ?? name ?? 'SIGKILL'));
        child.once('error', (error) => reject(new Error(`it could not be started: ${messageOf(error)}`)));
      }),
      // Also what the command left behind, which may hold its output open.
      end: () =>
        killTree({ pid: pidOf(child.pid), isWrapped: false, mark, startedSince, graceMs: GRACE_MS, clock }),
      codeOf: sandbox?.codeOf,
    };
  });
}

/** The beginning and the end of an output, and all of it in a file. */
function keptOutput(file: string) {
  let bytes = 0;
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  return {
    /** Resolves when the stream has ended or was destroyed. A disk that takes no more does not hold it up. */
    read: async (stream: Readable): Promise<void> => {
      // The stream is read at once: one that is not when its program exits is emptied.
      const opening = open(file, 'w', OWNER_ONLY).catch(() => undefined);
      try {
        for await (const chunk of stream) {
          const read = Buffer.from(chunk as Uint8Array);
          bytes += read.length;
          if (head.length < HEAD_BYTES) head = Buffer.concat([head, read]).subarray(0, HEAD_BYTES);
          tail = Buffer.concat([tail, read]).subarray(-TAIL_BYTES);
          if (bytes <= MAX_FILE_BYTES) await (await opening)?.appendFile(read).catch(() => undefined);
        }
      } catch {
        // What could not be ended held it open, and it was closed here.
      }
      await (await opening)?.close();
    },
    /** With a line about what is not shown between them. */
    text: (): string => {
      const before = head.subarray(0, Math.max(0, bytes - tail.length));
      const left = bytes - before.length - tail.length;
      const between = left > 0 ? `\n… ${left} bytes left out …\n` : '';
      return plainText(`${before.toString()}${between}${tail.toString()}`);
    },
  };
}
