import { tmpdir } from 'node:os';
import { stateDirectory } from '../config/state-directory.js';
import { claimState } from '../store/machine.js';
import { openRuntimeDir, type RuntimeDir } from '../store/runtime-dir.js';
import { openStateDir, type StateDir } from '../store/state-dir.js';
import type { BridgeOptions } from './options.js';

/** Where a server keeps and finds what outlives it. */
export interface OpenState {
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
}

/** Throws STATE_UNUSABLE when the state directory cannot be used. */
export async function openState(options: BridgeOptions): Promise<OpenState> {
  const { config, env } = options;
  const stateDir = await openStateDir({ path: stateDirectory(config, options) });
  await claimState(stateDir.path, config.state_owner);
  const runtimeDir = await openRuntimeDir({
    xdgRuntimeDir: env['XDG_RUNTIME_DIR'],
    tmpDir: tmpdir(),
    uid: process.getuid?.() ?? 0,
    statePath: stateDir.path,
  });
  return { stateDir, runtimeDir };
}
