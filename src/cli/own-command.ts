import { realpath } from 'node:fs/promises';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { readJsonFile } from '../base/files/json-file.js';
import { shellWord } from '../base/text.js';
import type { ServerCommand } from '../clients/server-command.js';
import { expandHome } from '../config/places.js';
import { LAUNCHER } from '../machines/bridge-start.js';
import type { CommandContext } from './command.js';

const NAME = 'claude-code-bridge';
/** A package of the registry, with or without a version: no file, folder or address. */
const BY_NAME = /^claude-code-bridge(@[^:/]+)?$/;
const npxNote = z.looseObject({ _npx: z.looseObject({ packages: z.array(z.string()) }) });

/**
 * How a person runs this installation: by npx if that installed it by name, by the launcher that `machines add` wrote, by its name if it is on
 * PATH, or by Node and the file. `entry`: `process.argv[1]`.
 */
export async function ownCommand(entry: string, path: string | undefined, homeDir: string): Promise<string> {
  const file = (await realpath(entry).catch(() => undefined)) ?? entry;
  const spec = await npxSpec(file);
  if (spec !== undefined) return `npx ${spec}`;
  // <folder>/<version>/dist/main.js
  const folder = dirname(dirname(dirname(file)));
  if (folder.endsWith(`/${dirname(LAUNCHER)}`)) return shellWord(join(folder, basename(LAUNCHER)), homeDir);
  // npx and npm put such folders on PATH, which no other shell has.
  const folders = (path ?? '').split(delimiter).filter((part) => isAbsolute(part) && !/\.bin\/?$/.test(part));
  const links = await Promise.all(
    folders.map((folder) => realpath(join(folder, NAME)).catch(() => undefined)),
  );
  return links.includes(file) ? NAME : `node ${shellWord(file, homeDir)}`;
}

/** The command with the settings file that this call was given by `--config`: what it suggests is about the same settings. */
export function withConfig(command: string, configPath: string | undefined, homeDir: string): string {
  if (configPath === undefined) return command;
  return `${command} --config ${shellWord(resolve(expandHome(configPath, homeDir)), homeDir)}`;
}

/** How a client starts this server again, with the settings file of `--config`: by npx if that installed it by name, else by Node and the file. */
export async function serverCommandFor(
  { serverEntry, configPath, homeDir }: Pick<CommandContext, 'serverEntry' | 'configPath' | 'homeDir'>,
  node: string,
): Promise<ServerCommand> {
  const spec = await npxSpec(serverEntry);
  const config = configPath === undefined ? [] : ['--config', resolve(expandHome(configPath, homeDir))];
  return spec === undefined
    ? { command: node, args: [serverEntry, ...config] }
    : { command: 'npx', args: ['-y', spec, ...config] };
}

/** npx notes what it was asked for beside the packages that it installs. Undefined for what another program installed, and for a tarball. */
async function npxSpec(file: string): Promise<string | undefined> {
  const [, folder] = /^(.*)[\\/]node_modules[\\/]claude-code-bridge[\\/]/.exec(file) ?? [];
  if (folder === undefined) return undefined;
  const note = await readJsonFile(join(folder, 'package.json'), npxNote).catch(() => undefined);
  return note?.state === 'ok' ? note.value._npx.packages.find((spec) => BY_NAME.test(spec)) : undefined;
}
