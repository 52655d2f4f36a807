import { BridgeError } from '../base/errors.js';
import { loadConfig } from '../config/load-config.js';
import { stateDirectory } from '../config/places.js';
import { adoptState, foreignState, isStateDir } from '../store/machine.js';
import { somePresence } from '../store/owner-state.js';
import { openStateDir } from '../store/state-dir.js';
import type { CommandContext } from './command.js';
import { exitCodes, type ExitCode } from './exit-codes.js';
import { fittedLines, withCommand } from './terminal-text.js';

/** Says which machine the state directory belongs to; with `adopt` it becomes this one's, unless a process of the bridge listens in it. */
export async function runState(action: string | undefined, context: CommandContext): Promise<ExitCode> {
  const { command, look, output } = context;
  const said = (text: string, code: ExitCode = exitCodes.done): ExitCode => {
    void output.write(fittedLines(`${text}\n`, look));
    return code;
  };
  if (action !== undefined && action !== 'adopt') {
    throw new BridgeError('INVALID_ARGUMENTS', `'${action}' is no action of state.`, 'The action is: adopt.');
  }
  const { config } = await loadConfig({ ...context, cwd: process.cwd() });
  const path = stateDirectory(config, context);
  const its = `The state directory ${path}`;
  const isAsked = action === undefined;
  if (!(await isStateDir(path)))
    return said(
      `There is no state directory at ${path} yet. The bridge makes it when it first starts.`,
      isAsked ? exitCodes.done : exitCodes.notFound,
    );
  await openStateDir({ path });
  const foreign = await foreignState(path);
  if (foreign === undefined) return said(`${its} belongs to this machine.`);
  const adopt = withCommand('When no bridge runs there any more:', `${command} state adopt`, look);
  if (isAsked) return said(`${foreign.message}\n${adopt}`);
  if (await somePresence(path))
    return said(
      `Nothing was changed: a bridge still runs with the state directory ${path}. End it first.`,
      exitCodes.failed,
    );
  await adoptState(path, config.state_owner);
  return said(`${its} belongs to this machine now. Tasks that ran on the other one are given their end.`);
}
