import { BridgeError, messageOf } from '../base/errors.js';
import { pidOf, type Pid } from '../os/pid.js';

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

/** Imports the first of the packages that loads on this machine. Throws BridgeError TASK_START_FAILED when none does. */
export async function loadNodePty(): Promise<NodePtyModule> {
  const errors: string[] = [];
  for (const name of nodePtyPackages) {
    try {
      const loaded: unknown = await import(name);
      const found = moduleIn(loaded);
      if (found) return found;
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
  if (typeof value !== 'object' || value === null) return false;
  const hasNumbers = 'pid' in value && isRealPid(value.pid) && 'fd' in value && typeof value.fd === 'number';
  return (
    hasNumbers &&
    ['onData', 'onExit', 'on', 'resize', 'pause', 'resume'].every((name) => hasMethod(value, name))
  );
}

function isRealPid(value: unknown): boolean {
  return typeof value === 'number' && pidOf(value) !== undefined;
}

/** A CommonJS module arrives with its exports named, or all under `default`. */
function moduleIn(loaded: unknown): NodePtyModule | undefined {
  if (isNodePtyModule(loaded)) return loaded;
  if (
    typeof loaded === 'object' &&
    loaded !== null &&
    'default' in loaded &&
    isNodePtyModule(loaded.default)
  ) {
    return loaded.default;
  }
  return undefined;
}

function isNodePtyModule(value: unknown): value is NodePtyModule {
  return typeof value === 'object' && value !== null && hasMethod(value, 'spawn');
}

function hasMethod(value: object, name: string): boolean {
  return typeof Reflect.get(value, name) === 'function';
}
