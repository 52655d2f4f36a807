import { BridgeError } from '../../base/errors.js';
import { editJson } from '../../config/json-text.js';
import { loadConfig } from '../../config/load-config.js';
import type { Config } from '../../config/schema.js';
import { readEntries, writeSettings } from '../../config/settings-file.js';
import type { CommandContext } from '../command.js';

export type MachineSetting = Config['machines'][string];

/** The machines of the settings, and the file that a change is written to. */
export interface MachineSettings {
  readonly machines: Config['machines'];
  readonly file: string;
}

/** Throws CONFIG_ERROR. */
export async function machineSettings({
  env,
  homeDir,
  configPath,
}: Pick<CommandContext, 'env' | 'homeDir' | 'configPath'>): Promise<MachineSettings> {
  const { config, source, defaultSource } = await loadConfig({
    env,
    homeDir,
    configPath,
    cwd: process.cwd(),
  });
  return { machines: config.machines, file: source ?? defaultSource };
}

/** The setting of a machine. Throws MACHINE_NOT_FOUND. */
export function settingOf({ machines }: MachineSettings, name: string, command: string): MachineSetting {
  const found = Object.hasOwn(machines, name) ? machines[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(machines).join(', ');
  throw new BridgeError(
    'MACHINE_NOT_FOUND',
    `No machine is named ${name}${names === '' ? '; none is set up' : `; there are: ${names}`}.`,
    `To add it: ${command} machines add ${name} ssh://user@host`,
  );
}

/**
 * Writes the setting of one machine, or takes it out (undefined); comments and the layout of all else stay. Throws CONFIG_ERROR for a file that
 * cannot be used, and where something other than the file still says otherwise.
 */
export async function changeMachine(
  context: Pick<CommandContext, 'env' | 'homeDir' | 'configPath'>,
  file: string,
  name: string,
  value: { readonly command: readonly string[] } | undefined,
): Promise<void> {
  const { text, mode } = await readEntries(file);
  await writeSettings(file, editJson(text, [{ path: ['machines', name], value }]), mode);
  const { machines } = await machineSettings(context);
  if (Object.hasOwn(machines, name) === (value !== undefined)) return;
  throw new BridgeError(
    'CONFIG_ERROR',
    `${file} was written, and the environment variable MCP_MACHINES counts instead of it.`,
    'Take that variable away, or change it.',
  );
}
