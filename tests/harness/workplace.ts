import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemCodeOf } from '../../src/base/errors.js';
import { commandOf, killMarked, markedProcesses } from './marked-processes.js';
import { until } from './until.js';

/** Folders of one test's own, in which everything that it starts lives. */
export interface Workplace {
  readonly root: string;
  readonly homeDir: string;
  readonly stateDir: string;
  /** Allowed root of the bridge. */
  readonly projectsDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Makes an empty project folder. */
  project(name: string): Promise<string>;
  /** Pids of everything that was started here, also by others: by the folder's path in their environment. */
  processes(): Promise<number[]>;
  /** Resolves when nothing that was started here runs any more and no socket or lock is left; rejects with what is left. */
  settled(): Promise<void>;
  /** Ends what is left and removes the folder. */
  remove(): Promise<void>;
}

/** The process table that this run of the tests uses, see `src/os/process-source.ts`: servers and keepers get the same. */
const TABLE_VARIABLE = 'CLAUDE_CODE_BRIDGE_PROCESS_TABLE';

export async function createWorkplace(): Promise<Workplace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'w-')));
  const folder = (name: string): string => join(root, name);
  const homeDir = folder('home');
  const stateDir = folder('state');
  const projectsDir = folder('p');
  const runtimeDir = folder('run');
  const tempDir = folder('tmp');
  for (const path of [homeDir, projectsDir, runtimeDir, tempDir]) await mkdir(path, { mode: 0o700 });

  const table = process.env[TABLE_VARIABLE];
  const processTable: Record<string, string> = table === undefined ? {} : { [TABLE_VARIABLE]: table };

  async function leftovers(): Promise<string[]> {
    const processes = await Promise.all(
      (await markedProcesses(root)).map(async (pid) => `process ${pid} (${await commandOf(pid)})`),
    );
    // Only ours: a CLI that was killed leaves a socket of its own beside them.
    const sockets = await filesBelow(join(stateDir, 'sockets'));
    const locks = await filesBelow(join(stateDir, 'locks'));
    return [...processes, ...sockets, ...locks];
  }

  return {
    root,
    homeDir,
    stateDir,
    projectsDir,
    env: {
      HOME: homeDir,
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      LANG: 'C.UTF-8',
      TMPDIR: tempDir,
      XDG_RUNTIME_DIR: runtimeDir,
      MCP_STATE_DIR: stateDir,
      MCP_ALLOWED_ROOTS: projectsDir,
      ...processTable,
    },
    project: async (name) => {
      await mkdir(join(projectsDir, name));
      return join(projectsDir, name);
    },
    processes: () => markedProcesses(root),
    // A keeper ends a little after its task, and a CLI a little after its terminal.
    settled: () =>
      until('nothing is left behind', async () => {
        const left = await leftovers();
        if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`);
      }),
    remove: async () => {
      await killMarked(root);
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function filesBelow(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  } catch (error) {
    // Never made: nothing can be in it.
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
