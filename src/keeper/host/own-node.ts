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
  const isApp = versions['electron'] !== undefined;
  const seen: string[] = [];
  for (const path of isApp ? await userNodes(env) : [execPath]) {
    const version = isApp ? await versionOf(path) : (versions['node'] ?? '0');
    if (version !== undefined && !isOlderVersion(version, OLDEST_NODE)) return path;
    if (version !== undefined) seen.push(`${path} is ${version}`);
  }
  throw new BridgeError(
    'TASK_START_FAILED',
    `Tasks need Node ${OLDEST_NODE} or newer${isApp ? " on this machine, beside the app's own" : ''}: ${seen.length === 0 ? 'none was found' : seen.join(', ')}.`,
    'Install Node from https://nodejs.org and start the client again.',
  );
}

async function userNodes(env: RunningNode['env']): Promise<string[]> {
  const onPath = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const home = env['HOME'];
  const versions = home === undefined ? [] : await readdir(join(home, VERSIONS_AT_HOME)).catch(() => []);
  const newestFirst = versions.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  const atHome = [...newestFirst.map((version) => `${VERSIONS_AT_HOME}/${version}/bin`), ...FOLDERS_AT_HOME];
  const folders = [...onPath, ...atHome.flatMap((folder) => (home === undefined ? [] : join(home, folder)))];
  return [...folders, ...USUAL_FOLDERS].map((folder) => join(folder, 'node'));
}

/** Undefined for a file that is missing or does not answer as Node does. */
async function versionOf(node: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(node, ['--version'], { timeout: ANSWER_LIMIT_MS });
    return /^v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
  } catch {
    return undefined;
  }
}
