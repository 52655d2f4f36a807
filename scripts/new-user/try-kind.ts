import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { scriptedClaudeEnvironment, writeClaudeHome } from '../../src/cli/demo/claude-home.js';
import { startScriptedApi } from '../../src/cli/demo/scripted-api.js';
import type { Project } from '../release/project.js';
import { delegate } from './delegate.js';
import type { Kind } from './kind.js';
import { leftovers } from './leftovers.js';
import { startPackageRegistry } from './package-registry.js';
import { createPlace } from './place.js';

const MADE = { file: 'made.txt', text: 'by a new user' };

export interface TryOptions {
  readonly project: Project;
  /** The folder of the release. */
  readonly release: string;
  /** The real program of Claude Code, which the person has. */
  readonly claude: string;
}

export interface Tried {
  /** What was typed until the task was done. */
  readonly typed: readonly string[];
  /** From the first key to the end of the task. */
  readonly seconds: number;
  /** After the end, as sentences. */
  readonly left: readonly string[];
}

/** Goes the way of a new user: installs, delegates a task to the real Claude Code with a scripted model, uninstalls. Throws when a step fails. */
export async function tryKind(kind: Kind, { project, release, claude }: TryOptions): Promise<Tried> {
  const command = { command: `printf '${MADE.text}' > ${MADE.file}`, description: 'makes the file' };
  const api = await startScriptedApi([{ tools: [{ name: 'Bash', input: command }] }, { say: 'Made.' }]);
  const registry = await startPackageRegistry(project);
  const {
    HOME: _home,
    PATH: _path,
    ...account
  } = scriptedClaudeEnvironment({ homeDir: '', path: '', apiUrl: api.url });
  const place = await createPlace({
    visible: [project.root],
    env: { ...account, npm_config_registry: registry.url },
  });
  try {
    const folder = join(place.homeDir, 'Projects', 'app');
    await mkdir(folder, { recursive: true });
    await mkdir(join(place.homeDir, '.local', 'bin'), { recursive: true });
    await copyFile(claude, join(place.homeDir, '.local', 'bin', 'claude'));
    await writeClaudeHome(place.homeDir);
    const begin = performance.now();
    const server = await kind.install({ project, release, place });
    await delegate(server, join(place.home, 'Projects', 'app'));
    const seconds = (performance.now() - begin) / 1000;
    const typed = [...place.typed];
    await kind.uninstall({ project, release, place });
    const made = await readFile(join(folder, MADE.file), 'utf8');
    if (made !== MADE.text) throw new Error(`${MADE.file} holds ${made}.`);
    return { typed, seconds, left: await leftovers(place) };
  } finally {
    await place.remove();
    await registry.close();
    await api.dispose();
  }
}
