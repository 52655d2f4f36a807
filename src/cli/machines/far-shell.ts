import { addAbortSignal, type Readable } from 'node:stream';
import { BridgeError } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import { oneLine, shellWord } from '../../base/text.js';
import { openWire, type WireOptions } from '../../machines/wire.js';
import { Cancelled } from '../exit-codes.js';

/** For some ten megabytes over a slow line, and npm. A person who waits for less has Ctrl-C. */
const LIMIT_MS = 900_000;
/** What a far script prints: a report of the doctor is the longest. */
const MAX_OUTPUT_CHARS = 1024 * 1024;
const MAX_WHY_CHARS = 500;

/** A shell on another machine; `variables`: of programs there. */
export type FarShell = Pick<WireOptions, 'machine' | 'command' | 'env' | 'variables' | 'signal'>;

/** The line with which a script asks for its input. */
export const SEND = 'send';
/** The exit code of a script that misses something there; its last words on stderr say what. */
export const REFUSED = '64';

interface FarRun {
  /** What it means when the script fails, as in "did not take the version"; its last words follow. */
  readonly failed: string;
  /** What to do after exit code 64. */
  readonly refused?: string;
  /** All of what it may read. */
  readonly input?: Uint8Array;
  /** Called with each line that it prints. */
  readonly onLine?: (line: string) => void;
}

/**
 * Runs a script of `sh` on the other machine, over a wire of its own, and resolves with what it prints once it has ended with exit code 0. Throws
 * MACHINE_UNREACHABLE, for exit code 64 INVALID_ARGUMENTS, and Cancelled.
 */
export async function runThere(
  shell: FarShell,
  script: string,
  { failed, refused = '', input, onLine }: FarRun,
): Promise<string> {
  const { machine, command, signal } = shell;
  const limit = AbortSignal.timeout(LIMIT_MS);
  const stop = AbortSignal.any([signal, limit]);
  const done = createSecret();
  // Not every command passes an exit code on.
  const start = `(\n${script}\n)\nprintf '\\n${done}%s\\n' $?`;
  try {
    const options = { ...shell, signal: stop, prepare: ':', start, cwd: process.cwd() };
    const wire = await openWire(options).catch((error: unknown) => {
      throw error instanceof BridgeError ? tryByHand(error, command) : error;
    });
    try {
      const lines: string[] = [];
      let code = '';
      for await (const line of linesOf(addAbortSignal(stop, wire.output))) {
        if (line === SEND) wire.input.end(input);
        else if (line.startsWith(done)) code = line.slice(done.length);
        else lines.push(line);
        if (code === '' && line !== SEND && line !== '') onLine?.(line);
      }
      if (code === '0') return lines.join('\n');
      const words = oneLine(await wire.ended, MAX_WHY_CHARS);
      if (code === REFUSED) throw new BridgeError('INVALID_ARGUMENTS', `${machine} ${words}`, refused);
      throw failure(`${machine} ${failed}: ${words}`);
    } finally {
      wire.dispose();
    }
  } catch (error) {
    if (signal.aborted) throw new Cancelled();
    throw limit.aborted ? failure(`${machine} did not answer in ${LIMIT_MS / 1000} s.`) : error;
  }
}

/** Throws MACHINE_UNREACHABLE for a far side that prints without an end. */
async function* linesOf(output: Readable): AsyncGenerator<string> {
  let rest = '';
  let chars = 0;
  for await (const chunk of output.setEncoding('utf8')) {
    const pieces = `${rest}${String(chunk)}`.split('\n');
    chars += String(chunk).length;
    if (chars > MAX_OUTPUT_CHARS) throw failure('The other machine printed too much for an answer.');
    rest = pieces.pop() ?? '';
    yield* pieces;
  }
}

/** MACHINE_UNREACHABLE for what came to no end there. */
export function failure(message: string): BridgeError {
  const next = 'Nothing was changed here, and nothing half is left there. Mend that, then try again.';
  return new BridgeError('MACHINE_UNREACHABLE', message, next);
}

/** What a person does about a line that cannot be opened. */
function tryByHand({ code, message }: BridgeError, command: readonly string[]): BridgeError {
  const [only = '', ...others] = command;
  const hint = `Nothing was changed. In a terminal, this must give a shell: ${pasted(command)} sh`;
  const ssh = others.length === 0 ? `\nA host of ssh is written as ssh://${only}` : '';
  return new BridgeError(code, message, `${hint}${ssh}`);
}

/** The words of a command as a person pastes them. */
export function pasted(words: readonly string[]): string {
  return words.map((word) => shellWord(word, '/')).join(' ');
}
