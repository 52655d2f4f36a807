import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { BridgeError, messageOf } from '../base/errors.js';

const OWNER_ONLY = 0o600;

export interface KeeperProgram {
  /** The program that keeps one task (`dist/keeper.js`), run by this Node. */
  readonly keeperEntry: string;
  /** Arguments for Node itself; a test runs the sources. */
  readonly nodeArguments: readonly string[];
  readonly statePath: string;
  readonly runtimePath: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Starts a keeper in a session of its own: neither the client's end nor its Ctrl-C reaches it. What it prints goes to `log`. */
export function spawnKeeper(program: KeeperProgram, taskId: string, log: string): ChildProcess {
  const { keeperEntry, nodeArguments, statePath, runtimePath, env } = program;
  const output = openLog(log);
  try {
    return spawn(process.execPath, [...nodeArguments, keeperEntry, taskId, statePath, runtimePath], {
      detached: true,
      cwd: statePath,
      env,
      stdio: ['ignore', output, output, 'pipe'],
    });
  } finally {
    closeSync(output);
  }
}

function openLog(path: string): number {
  try {
    return openSync(path, 'a', OWNER_ONLY);
  } catch (fault) {
    throw new BridgeError(
      'STATE_UNUSABLE',
      `Cannot open ${path}: ${messageOf(fault)}`,
      'Check that the folder exists and is yours, that its disk has room, and that not too many files are open.',
      { cause: fault },
    );
  }
}
