import { BridgeError } from '../base/errors.js';
import { loadConfig } from '../config/load-config.js';
import { stateDirectory } from '../config/state-directory.js';
import { adoptState, machineOf } from '../store/machine.js';
import { somePresence } from '../store/presence.js';
import { openStateDir } from '../store/state-dir.js';
import { exitCodes, type ExitCode } from './exit-codes.js';

export interface StateOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly configPath: string | undefined;
  readonly action: string | undefined;
  readonly write: (text: string) => void;
}

/** Says which machine the state directory belongs to; with `adopt` it becomes this one's, unless a process of the bridge listens in it. */
export async function runState(options: StateOptions): Promise<ExitCode> {
  const { action, write } = options;
  if (action !== undefined && action !== 'adopt') {
    throw new BridgeError('INVALID_ARGUMENTS', `'${action}' is no action of state.`, 'The action is: adopt.');
  }
  const { config } = await loadConfig({ ...options, cwd: process.cwd() });
  const { path } = await openStateDir({ path: stateDirectory(config, options) });
  const machine = await machineOf(path);
  if (machine !== 'other') {
    write(`The state directory ${path} belongs to this machine.\n`);
    return exitCodes.done;
  }
  if (action === undefined) {
    write(
      `The state directory ${path} belongs to another machine: its tasks can be read here, and none can be started.\n`,
    );
    return exitCodes.done;
  }
  if (await somePresence(path)) {
    write(`Nothing was changed: a bridge still runs with the state directory ${path}. End it first.\n`);
    return exitCodes.failed;
  }
  await adoptState(path, config.state_owner);
  write(
    `The state directory ${path} belongs to this machine now. Tasks that ran on the other one are given their end.\n`,
  );
  return exitCodes.done;
}
