import type { BridgeError } from '../base/errors.js';
import type { Logger } from '../base/logger.js';
import { systemClock } from '../base/system-clock.js';
import type { Origins } from '../config/permission-modes.js';
import type { Config } from '../config/schema.js';
import { stateDirectory } from '../config/places.js';
import type { KeeperProgram } from '../keeper/host/launch-keeper.js';
import type { EndMarked } from '../os/choose-processes.js';
import { claimState, setOldStateAside } from '../store/machine.js';
import { somePresence } from '../store/owner-state.js';
import { openRuntimeDir, type RuntimeDir } from '../store/runtime-dir.js';
import { openStateDir, type StateDir } from '../store/state-dir.js';

/** What a dead server or keeper left has this long between SIGTERM and SIGKILL. */
const LEFTOVER_GRACE_MS = 1_000;

/** What a server is started with. */
export interface BridgeOptions {
  readonly config: Config;
  /** Why the user's settings cannot be used: `config` has the defaults then, and every call is refused with this. */
  readonly unusable?: BridgeError | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  /** The working directory of the server. */
  readonly cwd?: string | undefined;
  /** The settings file that was read. */
  readonly settingsFile?: string | null;
  readonly origins?: Origins | undefined;
  /** How a person runs this program, for words about what to do. */
  readonly command?: string;
  readonly version: string;
  readonly logger: Logger;
  /** The program that keeps one task. That of the board lies beside it. */
  readonly keeperEntry: string;
  /** Arguments for Node when it runs the keeper or the board. */
  readonly nodeArguments?: readonly string[];
}

/** Where a server keeps and finds what outlives it. */
export interface OpenState {
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
}

/** Throws STATE_UNUSABLE when the state directory cannot be used. */
export async function openState(options: BridgeOptions): Promise<OpenState> {
  const path = stateDirectory(options.config, options);
  const aside = await setOldStateAside(path, somePresence);
  const stateDir = await openStateDir({ path });
  await claimState(path, options.config.state_owner);
  if (aside !== undefined) {
    const { noteHistory } = await import('../tasks/history/task-history.js');
    await noteHistory(path, `What an older version of the bridge left is in ${aside}.`);
  }
  return { stateDir, runtimeDir: await openRuntimeDir(stateDir.path) };
}

/** How this server starts keepers. */
export function keeperProgram(options: BridgeOptions, { stateDir, runtimeDir }: OpenState): KeeperProgram {
  const { keeperEntry, nodeArguments = [], env, config } = options;
  const places = { statePath: stateDir.path, runtimePath: runtimeDir.path };
  return { keeperEntry, nodeArguments, ...places, env, logLevel: config.log_level };
}

/** Ends all processes that carry a mark, and says how many there were. */
export const endMarked: EndMarked = async (mark, startedSince) => {
  const { killTree } = await import('../pty/kill-ladder.js');
  const { ended } = await killTree({ mark, startedSince, clock: systemClock, graceMs: LEFTOVER_GRACE_MS });
  return ended.length;
};
