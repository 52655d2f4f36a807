import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { BridgeError } from '../../base/errors.js';
import { isOlderVersion, OLDEST_NODE } from '../../base/package.js';

/** `node --version` answers in 0.1 s. */
const ANSWER_LIMIT_MS = 10_000;
/** Where installers put Node; the PATH of an app that is started from the desktop has none of them. */
const USUAL_FOLDERS = ['/opt/homebrew/bin', '/usr/local/bin', '/usr/bin'];
const FOLDERS_AT_HOME = ['.volta/bin', '.local/share/mise/shims', '.asdf/shims', '.local/bin'];
/** Here each version has a folder of its own. */
const VERSIONS_AT_HOME = '.nvm/versions/node';

export interface RunningNode {
  readonly execPath: string;
  /** `process.versions`. */
  readonly versions: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The Node that runs keepers and the board: the one that runs this process, or the user's when this process runs inside a desktop
 * app. Claude Desktop runs a bundle in its own process, which refuses native modules of others on macOS. Throws TASK_START_FAILED
 * when that Node is too old, or the user has none that is new enough.
 */
export async function ownNode({ execPath, versions, env }: RunningNode): Promise<string> {
  if (versions['electron'] === undefined) {
    const version = versions['node'] ?? '';
    if (isNewEnough(version)) return execPath;
    throw new BridgeError(
      'TASK_START_FAILED',
      `Tasks need Node ${OLDEST_NODE} or newer, and this server runs in Node ${version}.`,
      'Ask the user to install a newer Node from https://nodejs.org and to start the client again.',
    );
  }
  const seen: string[] = [];
  for (const folder of await nodeFolders(env)) {
    const path = join(folder, 'node');
    const version = await versionOf(path);
    if (version === undefined) continue;
    if (isNewEnough(version)) return path;
    seen.push(`${path} is ${version}`);
  }
  throw new BridgeError(
    'TASK_START_FAILED',
    `Tasks need Node ${OLDEST_NODE} or newer on this machine, beside the app's own: ${seen.length === 0 ? 'none was found' : seen.join(', ')}.`,
    'Ask the user to install Node from https://nodejs.org, then try again.',
  );
}

async function nodeFolders(env: RunningNode['env']): Promise<string[]> {
  const onPath = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const home = env['HOME'];
  if (home === undefined) return [...onPath, ...USUAL_FOLDERS];
  const versions = await readdir(join(home, VERSIONS_AT_HOME)).catch(() => []);
  const newestFirst = versions.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  return [
    ...onPath,
    ...newestFirst.map((version) => join(home, VERSIONS_AT_HOME, version, 'bin')),
    ...FOLDERS_AT_HOME.map((folder) => join(home, folder)),
    ...USUAL_FOLDERS,
  ];
}

/** Undefined for a file that is missing or does not answer as Node does. */
async function versionOf(node: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(node, ['--version'], { timeout: ANSWER_LIMIT_MS });
    return /^v\d+\.\d+\.\d+/.test(stdout) ? stdout.trim() : undefined;
  } catch {
    return undefined;
  }
}

/** Of `v20.19.0` or without the letter. */
function isNewEnough(version: string): boolean {
  return version !== '' && !isOlderVersion(version.replace(/^v/, ''), OLDEST_NODE);
}
