import { BridgeError } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import { oneLine } from '../../base/text.js';
import { openWire } from '../../machines/wire.js';
import { Cancelled } from '../exit-codes.js';
import { pasted } from './place.js';

/** What a far script prints: a report of the doctor is the longest. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_WHY_CHARS = 500;

/** A shell on another machine. */
export interface FarShell {
  /** The name of the machine, for errors. */
  readonly name: string;
  /** Gives the shell. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of programs there. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** What a script did there: all that it printed, and why it did not come to its end. */
export interface FarRun {
  readonly output: string;
  /** The last words of the far side; undefined when the script came to its end. */
  readonly failed: string | undefined;
}

/**
 * Runs a script of `sh` on the other machine, over a wire of its own. `input`: all of what the script may read. Throws MACHINE_UNREACHABLE where the
 * wire cannot be opened, or its time is over, and Cancelled.
 */
export async function runThere(
  { name, command, env, variables = {}, signal }: FarShell,
  script: string,
  { input, limitMs }: { readonly input?: Uint8Array; readonly limitMs: number },
): Promise<FarRun> {
  const limit = AbortSignal.timeout(limitMs);
  const stop = AbortSignal.any([signal, limit]);
  const done = createSecret();
  // Not every command passes an exit code on.
  const start = `(\n${script}\n)\n[ $? = 0 ] && printf '\\n${done}\\n'`;
  try {
    const wire = await openWire({
      ...{ machine: name, command, env, variables, signal: stop, prepare: ':', start, cwd: process.cwd() },
    });
    const onStop = (): void => wire.dispose();
    stop.addEventListener('abort', onStop, { once: true });
    try {
      wire.input.end(input);
      const text = await textOf(wire.output);
      stop.throwIfAborted();
      const end = text.lastIndexOf(`\n${done}\n`);
      if (end !== -1) return { output: text.slice(0, end), failed: undefined };
      return { output: text, failed: oneLine(await wire.ended, MAX_WHY_CHARS) };
    } finally {
      stop.removeEventListener('abort', onStop);
      wire.dispose();
    }
  } catch (error) {
    if (signal.aborted) throw new Cancelled();
    if (!limit.aborted) throw error instanceof BridgeError ? tryByHand(error, command) : error;
    throw new BridgeError(
      'MACHINE_UNREACHABLE',
      `${name} did not answer in ${Math.round(limitMs / 1000)} s.`,
      'Nothing was changed here. Try again when the line is faster.',
    );
  }
}

/** What a person does about a line that cannot be opened. */
function tryByHand({ code, message }: BridgeError, command: readonly string[]): BridgeError {
  const [only = '', ...others] = command;
  const hint = `Nothing was changed. In a terminal, this must give a shell: ${pasted(command)} sh`;
  const ssh = others.length === 0 ? `\nA host of ssh is written as ssh://${only}` : '';
  return new BridgeError(code, message, `${hint}${ssh}`);
}

/** Throws MACHINE_UNREACHABLE for a far side that prints without an end. */
async function textOf(output: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of output) {
    if (!Buffer.isBuffer(chunk)) continue;
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_OUTPUT_BYTES)
      throw new BridgeError(
        'MACHINE_UNREACHABLE',
        'The other machine printed too much for an answer.',
        'See what the command prints there without the bridge.',
      );
  }
  return Buffer.concat(chunks).toString('utf8');
}
