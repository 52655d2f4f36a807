import { z } from 'zod';
import { BridgeError, systemCodeOf } from '../../base/errors.js';
import { Slots } from '../../base/lifecycle.js';
import { oneLine } from '../../base/text.js';
import { runProgram, type ProgramEnd, type TakeChunk } from '../../os/run-program.js';

/** A search needs a tenth of it; a repository can make ripgrep hold everything. */
const MAX_DATA_BYTES = 1024 ** 3;
/** How ripgrep exits when it refuses an argument, which it then explains, or cannot read a file. */
const FAILED = 2;
const SHOWN_CHARS = 400;
/** Each event except the last one begins with `{"type":"`; the first letter after it identifies the type. */
const TYPE_AT = '{"type":"'.length;
/** An event of this size is parsed in about 20 ms. A line of megabytes, or with as many matches, would take longer. */
const MAX_EVENT_BYTES = 1_000_000;
const LINE_FEED = 0x0a;
/** Each run takes one, and not one of git: it may wait for a walk, which waits for git. */
const runs = new Slots(4);

/** ripgrep encodes text that is not UTF-8 as base64. */
const textSchema = z.object({ text: z.string().optional(), bytes: z.base64().optional() });
const beginSchema = z.object({ data: z.object({ path: textSchema }) });
const lineSchema = z.object({
  data: z.object({
    lines: textSchema,
    line_number: z.int(),
    submatches: z.array(z.object({ start: z.int() })),
  }),
});
const endSchema = z.object({ data: z.object({ binary_offset: z.int().nullish() }) });
const otherSchema = z.object({ type: z.string() });

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
  readonly push: TakeChunk;
  /** Resolves when the output before was taken. */
  readonly taken?: Promise<void>;
  /** True when the rest of the output is not needed. */
  readonly isEnough?: () => boolean;
  /** True when the output is complete, whatever ripgrep's exit code is: it fails at single files, too. */
  readonly isWhole?: () => boolean;
}

/** A line with a match, or one beside it. */
export interface RipgrepLine {
  readonly line: number;
  /** Column of the first match, from 0, in UTF-16 units; undefined for a line beside a match. */
  readonly column: number | undefined;
  /** The line without its line end. */
  readonly text: string;
}

/** Takes what `rg --json` finds, file by file. */
export interface RipgrepListener {
  /** `path` is undefined for a name that is not UTF-8. Returns false to skip the lines of this file. */
  begin(path: string | undefined): boolean;
  /** Undefined for a line with matches whose event is too large to parse. */
  line(line: RipgrepLine | undefined): void;
  /** `isBinary`: ripgrep found a NUL after these lines and did not search the rest. */
  end?(isBinary: boolean): void;
}

/** Ends ripgrep when its output is enough. */
export class Enough extends Error {}

/**
 * Runs ripgrep without the user's settings. Returns false when its time is over. Throws INVALID_ARGUMENTS for a query or a glob that it
 * refuses, SEARCH_FAILED when it is missing or fails.
 */
export async function runRipgrep(
  { program, cwd, env, signal, deadlineMs }: Ripgrep,
  { args, input, push, taken, isEnough, isWhole }: RipgrepCall,
): Promise<boolean> {
  if (program === undefined) throw missing();
  const slot = await runs.take(signal);
  try {
    const timeLimitMs = Math.max(1, deadlineMs - performance.now());
    const call = { program, args: ['--no-config', '--no-messages', ...args], cwd, env, signal, timeLimitMs };
    const bounds = { maxDataBytes: MAX_DATA_BYTES, ...(input !== undefined && { input }) };
    const check = (): void => {
      if (isEnough?.() === true) throw new Enough();
    };
    const end = await runProgram({ ...call, ...bounds }, (chunk) => push(chunk)?.then(check) ?? check());
    await taken;
    if (end.how === 'too-slow') return false;
    const isRefusal = end.how !== 'exited' || end.code > FAILED || end.stderr !== '';
    if (isWhole === undefined ? isRefusal : !isWhole()) throw failure(end);
    return true;
  } catch (thrown) {
    if (thrown instanceof Enough) return true;
    // Another program has this name, or it could not be started.
    if (thrown instanceof SyntaxError || thrown instanceof z.ZodError) throw failed('it printed no events');
    const code = thrown instanceof BridgeError ? undefined : systemCodeOf(thrown);
    throw code === undefined ? thrown : failed(code);
  } finally {
    slot.dispose();
  }
}

/** What `searchWith` runs. */
interface SearchCall extends Pick<RipgrepCall, 'args' | 'input' | 'isEnough'> {
  /** The listener is called after that. Where it rejects, ripgrep is ended, with `Enough` without an error. */
  readonly ready?: Promise<void>;
  /** How much of the output is held until then: more of it waits in ripgrep. */
  readonly maxHeldBytes?: number;
}

/** Runs `rg --json` and passes on its events, without parsing lines of skipped files. Returns and throws like `runRipgrep`. */
export async function searchWith(
  ripgrep: Ripgrep,
  { ready = Promise.resolve(), maxHeldBytes = 0, ...call }: SearchCall,
  listener: RipgrepListener,
): Promise<boolean> {
  let pieces: Buffer[] = [];
  let length = 0;
  let isWanted = false;
  let isWhole = false;
  const add = (piece: Buffer): void => {
    length += piece.length;
    if (piece.length > 0 && length <= MAX_EVENT_BYTES) pieces.push(piece);
  };
  const take = (event: Buffer): void => {
    const type = String.fromCharCode(event[TYPE_AT] ?? 0);
    if (type === 'b') {
      const { text } = beginSchema.parse(jsonOf(event)).data.path;
      isWanted = listener.begin(text?.replace(/^\.\//, ''));
    } else if (type === 'm' || type === 'c') {
      if (isWanted) listener.line(lineOf(event));
    } else if (type === 'e') {
      const { binary_offset } = endSchema.parse(jsonOf(event)).data;
      if (isWanted) listener.end?.(typeof binary_offset === 'number');
    }
    // The summary begins differently, since its fields are in alphabetical order.
    else isWhole ||= otherSchema.parse(jsonOf(event)).type === 'summary';
  };
  const read = (chunk: Buffer): void => {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end));
      if (length <= MAX_EVENT_BYTES) take(Buffer.concat(pieces));
      // All other events are small.
      else if (isWanted) listener.line(undefined);
      pieces = [];
      length = 0;
      start = end + 1;
    }
    add(chunk.subarray(start));
  };
  let held: Buffer[] | undefined = [];
  let heldBytes = 0;
  const taken = ready.then(() => {
    held?.forEach(read);
    held = undefined;
  });
  const stop = new AbortController();
  taken.catch((thrown: unknown) => stop.abort(thrown));
  const push = (chunk: Buffer): void | Promise<void> => {
    if (held === undefined) return read(chunk);
    held.push(chunk);
    return (heldBytes += chunk.length) > maxHeldBytes ? taken : undefined;
  };
  const args = ['--json', '--crlf', ...call.args];
  const signal = AbortSignal.any([ripgrep.signal, stop.signal]);
  return runRipgrep({ ...ripgrep, signal }, { ...call, args, push, taken, isWhole: () => isWhole });
}

function lineOf(event: Buffer): RipgrepLine {
  const { lines, line_number, submatches } = lineSchema.parse(jsonOf(event)).data;
  const bytes = Buffer.from(lines.text ?? lines.bytes ?? '', lines.text === undefined ? 'base64' : 'utf8');
  const start = submatches[0]?.start;
  return {
    line: line_number,
    column: start === undefined ? undefined : bytes.toString('utf8', 0, start).length,
    text: bytes.toString('utf8').replace(/\r?\n$/, ''),
  };
}

function jsonOf(event: Buffer): unknown {
  const value: unknown = JSON.parse(event.toString('utf8'));
  return value;
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
