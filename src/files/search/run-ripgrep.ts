import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { oneLine } from '../../base/text.js';
import { gitRuns } from '../../git/run/git-slots.js';
import { runProgram, type ProgramEnd } from '../../os/run-program.js';

/** A search needs a tenth of it; a repository can make ripgrep hold everything. */
const MAX_DATA_BYTES = 1024 ** 3;
/** How ripgrep exits when it refuses an argument, which it then explains, or cannot read a file. */
const FAILED = 2;
const SHOWN_CHARS = 400;

/** How all runs of one search are started. */
export interface Ripgrep {
  /** Its absolute path; undefined when it is missing. */
  readonly program: string | undefined;
  /** A path through the open descriptor of the searched folder. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** In terms of `performance.now`. */
  readonly deadlineMs: number;
}

export interface RipgrepCall {
  readonly args: readonly string[];
  readonly input?: Uint8Array;
  readonly push: (chunk: Buffer) => void;
  /** True when the rest of the output is not needed. */
  readonly isEnough: () => boolean;
  /** True when the output is complete, whatever ripgrep's exit code is: it fails at single files, too. */
  readonly isWhole?: () => boolean;
}

/** Ends ripgrep when its output is enough. */
class Enough extends Error {}

/**
 * Runs ripgrep without the user's settings. Returns false when its time is over. Throws INVALID_ARGUMENTS for a query or a glob that it
 * refuses, SEARCH_FAILED when it is missing or fails.
 */
export async function runRipgrep(
  { program, cwd, env, signal, deadlineMs }: Ripgrep,
  { args, input, push, isEnough, isWhole }: RipgrepCall,
): Promise<boolean> {
  if (program === undefined) throw missing();
  const slot = await gitRuns.take(signal);
  try {
    const timeLimitMs = Math.max(1, deadlineMs - performance.now());
    const call = { program, args: ['--no-config', '--no-messages', ...args], cwd, env, signal, timeLimitMs };
    const bounds = { maxDataBytes: MAX_DATA_BYTES, ...(input !== undefined && { input }) };
    const end = await runProgram({ ...call, ...bounds }, (chunk) => {
      push(chunk);
      if (isEnough()) throw new Enough();
    });
    if (end.how === 'too-slow') return false;
    const isRefusal = end.how !== 'exited' || end.code > FAILED || end.stderr !== '';
    if (isWhole === undefined ? isRefusal : !isWhole()) throw failure(end);
    return true;
  } catch (thrown) {
    if (thrown instanceof Enough) return true;
    // Another program has this name, or it could not be started.
    if (thrown instanceof SyntaxError || thrown instanceof z.ZodError) throw failed('it printed no events');
    const code = thrown instanceof BridgeError ? undefined : systemCodeOf(thrown);
    if (code !== undefined) throw failed(code);
    throw thrown;
  } finally {
    slot.dispose();
  }
}

function failure(end: ProgramEnd): BridgeError {
  if (end.how === 'missing') return missing();
  if (end.how !== 'exited') return failed(end.how === 'killed' ? `it was ended by ${end.signal}` : end.how);
  const words = oneLine(end.stderr.replace(/^rg: /, '').replaceAll(/\s+/g, ' ').trim(), SHOWN_CHARS);
  if (end.code !== FAILED || words === '') return failed(words === '' ? `it exited with ${end.code}` : words);
  return new BridgeError(
    'INVALID_ARGUMENTS',
    `ripgrep refuses the query or the glob: ${words}.`,
    'Correct it, or omit regex to search for the literal text.',
  );
}

function failed(why: string): BridgeError {
  return new BridgeError(
    'SEARCH_FAILED',
    `ripgrep, which searches files, failed: ${why}.`,
    'Install the bridge again.',
  );
}

function missing(): BridgeError {
  return new BridgeError(
    'SEARCH_FAILED',
    `ripgrep, which searches files, is missing: the package @vscode/ripgrep-${process.platform}-${process.arch} is not installed, and no rg is on PATH outside of the allowed roots.`,
    'Install the bridge again without --omit=optional, or install ripgrep.',
  );
}
