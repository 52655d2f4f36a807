import { tmpdir } from 'node:os';
import { systemClock } from '../base/system-clock.js';
import { stateDirectory } from '../config/state-directory.js';
import { Heartbeat } from '../store/heartbeat.js';
import { openRuntimeDir, type RuntimeDir } from '../store/runtime-dir.js';
import { openStateDir, type StateDir } from '../store/state-dir.js';
import type { BridgeOptions } from './options.js';

/** Where a server keeps and finds what outlives it. */
export interface OpenState {
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
  /** Shows others that this process lives. */
  readonly heartbeat: Heartbeat;
}

/** Throws STATE_UNUSABLE when the state directory cannot be used. */
export async function openState(options: BridgeOptions): Promise<OpenState> {
  const { config, env, logger } = options;
  const stateDir = await openStateDir({ path: stateDirectory(config, options) });
  const runtimeDir = await openRuntimeDir({
    xdgRuntimeDir: env['XDG_RUNTIME_DIR'],
    tmpDir: tmpdir(),
    uid: process.getuid?.() ?? 0,
    statePath: stateDir.path,
  });
  const heartbeat = await Heartbeat.start({ statePath: stateDir.path, clock: systemClock, logger });
  return { stateDir, runtimeDir, heartbeat };
}
