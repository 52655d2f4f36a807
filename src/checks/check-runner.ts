import { mkdir, open, readlink, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import ignore from 'ignore';
import { sleep, withinMs } from '../base/clock.js';
import { ignoreMissing, ignoreSystemError, messageOf } from '../base/errors.js';
import { systemClock as clock } from '../base/system-clock.js';
import { plainText } from '../base/text.js';
import type { Check } from './brief.js';
import type { CheckResult } from './result.js';
import type { StartLine } from './run-command.js';

/** Of an output, in the record: from its beginning and from its end. */
const HEAD_BYTES = 2_048;
const TAIL_BYTES = 6_144;
/** More than that is not kept in the file either. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** From the end of a command until its output has. */
const READ_LIMIT_MS = 5_000;
/** How a POSIX shell exits for a command that it may not run, or does not find (POSIX, 2.8.2). */
const notRunWords: Readonly<Record<number, string>> = {
  126: 'the shell may not run the command (exit code 126)',
  127: 'the shell did not find the command (exit code 127)',
};

/** Where checks run. */
export interface CheckPlace {
  readonly start: StartLine;
  /** Its real path. */
  readonly folder: string;
  /** Outputs are kept here: made when it is first needed. */
  readonly outputFolder: string;
}

/**
 * Runs a check until it exits, its time is over or the signal aborts; then no process of it is left. All of its output goes into a file of
 * this name. Never rejects: what did not run, or could not be ended, is `not run`.
 */
export async function runCheck(
  { name, command, timeout_seconds: limit }: Check,
  { start, folder, outputFolder }: CheckPlace,
  fileName: string,
  signal: AbortSignal,
): Promise<CheckResult> {
  const startMs = clock.monotonicMs();
  const output_file = join(outputFolder, fileName);
  const over = new AbortController();
  try {
    if (signal.aborted) throw new Error('the checks were stopped before it');
    if ((await realpath(folder).catch(ignoreMissing)) !== folder)
      throw new Error(`the folder ${folder} is no longer there`);
    await mkdir(outputFolder, { recursive: true, mode: 0o700 });
    const started = await start(command, folder);
    const kept = keptOutput(output_file);
    const reading = kept.read(started.stdout);
    const time = sleep(clock, limit * 1_000, AbortSignal.any([signal, over.signal]));
    const how = await Promise.race([started.exited, time.then(() => undefined)]);
    await started.end(how !== undefined);
    // Nothing holds the output open any more, unless the system does not let it end.
    await withinMs(clock, READ_LIMIT_MS, reading);
    started.stdout.destroy();
    const seconds = Math.round(clock.monotonicMs() - startMs) / 1_000;
    const output = kept.text();
    const code = typeof how === 'number' ? (started.codeOf?.(how, output) ?? how) : how;
    return { name, command, ...verdictOf(code, limit, signal.aborted), seconds, output, output_file };
  } catch (error) {
    return { name, command, verdict: 'not run', why: messageOf(error) };
  } finally {
    over.abort();
  }
}

/** The verdict by the way a command ended: its exit code, a signal, or undefined for one that was ended here. */
function verdictOf(
  how: number | string | undefined,
  limitSeconds: number,
  isStopped: boolean,
): Pick<CheckResult, 'verdict' | 'why' | 'exit_code'> {
  if (how === undefined && isStopped) return { verdict: 'not run', why: 'it was stopped before its end' };
  if (how === undefined)
    return { verdict: 'not met', why: `it ran longer than ${limitSeconds} s and was ended` };
  if (typeof how === 'string') return { verdict: 'not met', why: `the signal ${how} ended it` };
  if (how === 0) return { verdict: 'met', exit_code: 0 };
  const why = notRunWords[how];
  return {
    verdict: why === undefined ? 'not met' : 'not run',
    why: why ?? `exit code ${how}`,
    exit_code: how,
  };
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
      const opening = open(file, 'w', 0o600).catch(() => undefined);
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

/**
 * Links folders `names` of one folder into another that does not have them, never behind a link of that one; what was linked, and how the
 * links are removed.
 */
export async function linkFolders(names: readonly string[], from: string, to: string) {
  const linked: string[] = [];
  for (const name of names) {
    const place = join(to, name);
    if ((await realpath(dirname(place)).catch(ignoreMissing)) !== dirname(place)) continue;
    // Something may have its name there, or that of a folder above it.
    await symlink(join(from, name), place).then(() => linked.push(name), ignoreSystemError);
  }
  const unlink = async (): Promise<void> => {
    // A command may have put something else there, or in place of a folder above it.
    for (const name of linked) {
      const target = await readlink(join(to, name)).catch(ignoreSystemError);
      if (target === join(from, name)) await rm(join(to, name), { force: true });
    }
  };
  return { linked, unlink };
}

/** Says of a file, relative to the project, whether one of the patterns matches it, as in a .gitignore. */
export function matcher(patterns: readonly string[] = []): (file?: string) => boolean {
  const rules = ignore().add([...patterns]);
  return (file = '') => file !== '' && rules.ignores(file);
}

/** Says of a file whether one of the checks has it among its `tests`. */
export function testMatcher(checks: readonly Check[]): (file?: string) => boolean {
  const all = checks.map(({ tests }) => matcher(tests));
  return (file) => all.some((isOne) => isOne(file));
}
