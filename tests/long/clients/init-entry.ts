import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { SERVER_NAME } from '../../../src/clients/server-command.js';
import { runClient, type ClientBridge } from './client-bridge.js';

const fileSchema = z.record(z.string(), z.unknown());
const serversSchema = z.record(z.string(), z.record(z.string(), z.unknown()));

/** The entry that `init` shows for a client whose settings it does not edit. */
export async function printedEntry(bridge: ClientBridge, client: string): Promise<string> {
  const { command, args } = bridge.server;
  return runClient(bridge, [command, ...args, 'init', '--print', client]);
}

/**
 * Lets `init` add the server to the settings of a client, which are JSON, as a person does. The entry stays as `init` wrote it; only the environment of the tests is
 * added, under `envKey`.
 */
export async function runInitWithEnv(
  bridge: ClientBridge,
  client: string,
  { file, serversKey, envKey = 'env' }: { file: string; serversKey: string; envKey?: string },
): Promise<void> {
  const { command, args } = bridge.server;
  const options = ['--client', client, '--roots', bridge.workplace.projectsDir, '--yes'];
  await runClient(bridge, [command, ...args, 'init', ...options]);
  const settings = fileSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const servers = serversSchema.parse(settings[serversKey]);
  const entry = { ...servers[SERVER_NAME], [envKey]: bridge.server.env };
  await writeFile(file, JSON.stringify({ ...settings, [serversKey]: { ...servers, [SERVER_NAME]: entry } }));
}
