import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { BridgeError, messageOf, restartNeeded } from '../../base/errors.js';
import type { LogLevel } from '../../base/logger.js';
import type { ProcessIdentity } from '../../store/process-place.js';
import { errorFromWire, READY_FD, readyMessageSchema } from '../wire/messages.js';
import { ownNode } from './own-node.js';

/**
 * A keeper starts in 100 to 300 ms; one of many on a busy machine, or one that makes a container first, takes longer. The call that
 * waits for it must answer within 45 s.
 */
export const READY_LIMIT_MS = 40_000;
const MAX_READY_BYTES = 1024 * 1024;
const OWNER_ONLY = 0o600;

/** The program that keeps a task or a process. */
export interface KeeperProgram {
  /** `dist/keeper.js`, run by `ownNode`. */
  readonly keeperEntry: string;
  /** Arguments for Node itself; a test runs the sources. */
  readonly nodeArguments: readonly string[];
  readonly statePath: string;
  readonly runtimePath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The level of the keeper's own log; default: `info`. */
  readonly logLevel?: LogLevel | undefined;
}

export interface KeeperLaunch<T> {
  /** The id of the task or process. It is the keeper's first argument, by which the sweeper finds a keeper that is starting. */
  readonly id: string;
  /** The keeper reads this from its stdin: it may hold secrets, and is neither on disk nor shown in a list of processes. */
  readonly input: object;
  /** Called with the keeper once other processes see it, before it gets its input, to which the result is added. */
  readonly handOver?: (owner: ProcessIdentity) => Promise<object>;
  /** A file for the keeper's output; without one, the output is dropped. */
  readonly log?: string;
  /** Default: READY_LIMIT_MS. */
  readonly limitMs?: number;
  readonly record: z.ZodType<T>;
  /** The error for a keeper that does not start; `why` is a main clause. */
  readonly failure: (why: string) => BridgeError;
}

/**
 * Starts a keeper in a session of its own: it does not get the client's Ctrl-C, and outlives client and server. Resolves with the
 * record when the task or process runs. Throws the keeper's own error, or `failure`. Without its whole input, a keeper does nothing.
 */
export async function launchKeeper<T>(program: KeeperProgram, launch: KeeperLaunch<T>): Promise<T> {
  const { id, input, handOver, log, limitMs = READY_LIMIT_MS, record, failure } = launch;
  const { keeperEntry, nodeArguments, statePath, runtimePath, env, logLevel = 'info' } = program;
  const node = await ownNode({ execPath: process.execPath, versions: process.versions, env });
  const output = log === undefined ? 'ignore' : openLog(log);
  let child: ChildProcess;
  try {
    child = spawn(node, [...nodeArguments, keeperEntry, id, statePath, runtimePath, logLevel], {
      detached: true,
      cwd: statePath,
      env,
      stdio: ['pipe', output, output, 'pipe'],
    });
  } finally {
    if (typeof output === 'number') closeSync(output);
  }
  const pipe = child.stdio[READY_FD];
  let why = 'it ended at once';
  const giveUp = (what: string): void => {
    why = what;
    child.kill('SIGKILL');
    pipe?.destroy();
  };
  child.on('error', (error) => giveUp(messageOf(error)));
  const timer = setTimeout(() => giveUp(`it was not ready within ${limitMs / 1000} s`), limitMs);
  // A keeper that ends before it has read this says nothing, which is reported below.
  child.stdin?.on('error', () => undefined);
  if (handOver === undefined) child.stdin?.end(JSON.stringify(input));
  try {
    for await (const line of linesOf(pipe)) {
      const message = readyMessageSchema(record).safeParse(line).data;
      if (message === undefined) throw failure('its first message was not understood');
      if ('error' in message) throw errorFromWire(message.error);
      if ('record' in message) return message.record;
      if (handOver !== undefined)
        child.stdin?.end(JSON.stringify({ ...input, ...(await handOver(message.owner)) }));
    }
  } finally {
    clearTimeout(timer);
    // One that could not be handed the rest ends.
    child.stdin?.destroy();
    child.unref();
  }
  throw existsSync(keeperEntry) ? failure(why) : restartNeeded(`The program ${keeperEntry}`);
}

/** What a keeper writes until it closes the pipe, or ends. */
async function* linesOf(pipe: unknown): AsyncGenerator<string> {
  if (!(pipe instanceof Readable)) return;
  let text = '';
  try {
    for await (const chunk of pipe) {
      const lines = (text + String(chunk)).split('\n');
      text = lines.pop() ?? '';
      yield* lines;
      if (text.length > MAX_READY_BYTES) break;
    }
  } catch {
    // It was given up.
  }
  if (text !== '') yield text;
}

function openLog(path: string): number {
  try {
    return openSync(path, 'a', OWNER_ONLY);
  } catch (error) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `Cannot open ${path}: ${messageOf(error)}`,
      'Check that the folder exists and is yours, that its disk has room, and that not too many files are open.',
      { cause: error },
    );
  }
}
