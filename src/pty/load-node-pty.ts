import { z } from 'zod';
import { BridgeError, messageOf } from '../base/errors.js';
import type { Pid } from '../os/pid.js';

/** What is used of node-pty's module; `@lydell/node-pty` is the same code with prebuilt binaries. */
export interface NodePtyModule {
  spawn(file: string, args: string[], options: RawPtyOptions): unknown;
}

interface RawPtyOptions {
  readonly name: string;
  readonly cols: number;
  readonly rows: number;
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** null: data comes as bytes, so that no character is decoded in halves. */
  readonly encoding: null;
}

/** What is used of a pseudo-terminal of node-pty. */
export interface RawPty {
  readonly pid: Pid;
  /** The terminal's controlling side, non-blocking; closed by node-pty itself. */
  readonly fd: number;
  onData(listener: (data: unknown) => void): unknown;
  onExit(listener: (exit: { exitCode: number; signal?: number | undefined }) => void): unknown;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  resize(columns: number, rows: number): void;
  pause(): void;
  resume(): void;
}

/** The packages that may be there, first choice first. */
const nodePtyPackages = ['@lydell/node-pty', 'node-pty'] as const;

const method = z.custom((value) => typeof value === 'function');
const usable = z.object({ spawn: method });
const terminal = z.object({
  ...{ pid: z.int().positive(), fd: z.int() },
  ...{ onData: method, onExit: method, on: method, resize: method, pause: method, resume: method },
});
const nodePty = z.custom<NodePtyModule>((value) => usable.safeParse(value).success);
/** A CommonJS module arrives with its exports named, or all under `default`. */
const loadedSchema = nodePty.or(z.object({ default: nodePty }).transform((loaded) => loaded.default));

/** Imports the first of the packages that loads on this machine. Throws BridgeError TASK_START_FAILED when none does. */
export async function loadNodePty(): Promise<NodePtyModule> {
  const errors: string[] = [];
  for (const name of nodePtyPackages) {
    try {
      const found = loadedSchema.safeParse(await import(name));
      if (found.success) return found.data;
      errors.push(`${name}: it has no function "spawn"`);
    } catch (thrown) {
      errors.push(`${name}: ${messageOf(thrown).split('\n', 1)[0] ?? ''}`);
    }
  }
  throw new BridgeError(
    'TASK_START_FAILED',
    `No pseudo-terminal can be made: no module for it loads (${errors.join('; ')}).`,
    'Install the package again without --omit=optional, or add node-pty, which is compiled on the machine.',
  );
}

export function isRawPty(value: unknown): value is RawPty {
  return terminal.safeParse(value).success;
}
