import type { IPty, IPtyForkOptions } from '@lydell/node-pty';
import { z } from 'zod';
import { BridgeError, messageOf } from '../base/errors.js';

/** What is used of node-pty's module; `@lydell/node-pty` is the same code with prebuilt binaries. */
export interface NodePtyModule {
  spawn(file: string, args: string[], options: IPtyForkOptions): IPty;
}

/** A pseudo-terminal, with what the types of node-pty do not name. */
export interface RawPty extends IPty {
  /** The terminal's controlling side, non-blocking; closed by node-pty itself. */
  readonly fd: number;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

/** The packages that may be there, first choice first. */
const nodePtyPackages = ['@lydell/node-pty', 'node-pty'] as const;

const method = z.custom((value) => typeof value === 'function');
const usable = z.object({ spawn: method });
const terminal = z.object({ fd: z.int(), on: method });
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

export function isRawPty(pty: IPty): pty is RawPty {
  return terminal.safeParse(pty).success;
}
