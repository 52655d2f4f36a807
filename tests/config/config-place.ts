import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BridgeError } from '../../src/base/errors.js';
import { loadConfig, type ConfigRequest } from '../../src/config/load-config.js';
import { tempFolder } from '../harness/temp-folder.js';

export interface ConfigPlace {
  readonly homeDir: string;
  readonly cwd: string;
  /** The default settings file. */
  readonly path: string;
}

export async function place(settings?: string | object): Promise<ConfigPlace> {
  const folder = await tempFolder();
  const homeDir = join(folder, 'home');
  const cwd = join(folder, 'cwd');
  const path = join(homeDir, '.config', 'mcp-claude-bridge', 'config.json');
  await mkdir(cwd);
  await mkdir(dirname(path), { recursive: true });
  if (settings !== undefined) {
    await writeFile(path, typeof settings === 'string' ? settings : JSON.stringify(settings), {
      mode: 0o600,
    });
  }
  return { homeDir, cwd, path };
}

export async function load({ homeDir, cwd }: ConfigPlace, request: Partial<ConfigRequest> = {}) {
  return loadConfig({ env: {}, cwd, homeDir, ...request });
}

/** The lines of the error. */
export async function faults(at: ConfigPlace, request: Partial<ConfigRequest> = {}): Promise<string[]> {
  try {
    await load(at, request);
  } catch (thrown) {
    if (thrown instanceof BridgeError && thrown.code === 'CONFIG_ERROR') return thrown.message.split('\n');
    throw thrown;
  }
  return [];
}
