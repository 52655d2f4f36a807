import { BridgeError } from '../base/errors.js';
import { loadConfig } from '../config/load-config.js';
import { stateDirectory } from '../config/places.js';
import { adoptState, foreignState, isStateDir } from '../store/machine.js';
import { somePresence } from '../store/owner-state.js';
import { openStateDir } from '../store/state-dir.js';
import type { CommandContext } from './command-context.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { fittedLines } from './terminal-text.js';

/** Says which machine the state directory belongs to; with `adopt` it becomes this one's, unless a process of the bridge listens in it. */
export async function runState(action: string | undefined, context: CommandContext): Promise<ExitCode> {
  const write = (text: string): void => void context.output.write(fittedLines(`${text}\n`, context.look));
  if (action !== undefined && action !== 'adopt') {
    throw new BridgeError('INVALID_ARGUMENTS', `'${action}' is no action of state.`, 'The action is: adopt.');
  }
  const { config } = await loadConfig({ ...context, cwd: process.cwd() });
  const path = stateDirectory(config, context);
  if (!(await isStateDir(path))) {
    write(`There is no state directory at ${path} yet. The bridge makes it when it first starts.`);
    return action === undefined ? exitCodes.done : exitCodes.notFound;
  }
  await openStateDir({ path });
  const foreign = await foreignState(path);
  if (foreign === undefined) {
    write(`The state directory ${path} belongs to this machine.`);
    return exitCodes.done;
  }
  if (action === undefined) {
    write(`${foreign.message}\n${foreign.hint.replace('claude-code-bridge', context.command)}`);
    return exitCodes.done;
  }
  if (await somePresence(path)) {
    write(`Nothing was changed: a bridge still runs with the state directory ${path}. End it first.`);
    return exitCodes.failed;
  }
  await adoptState(path, config.state_owner);
  write(
    `The state directory ${path} belongs to this machine now. Tasks that ran on the other one are given their end.`,
  );
  return exitCodes.done;
}
