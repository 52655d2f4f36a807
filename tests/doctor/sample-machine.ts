import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SERVER_NAME } from '../../src/clients/server-command.js';
import { npxServerCommand } from '../harness/npx-server-command.js';
import { makeContext } from '../../src/doctor/make-context.js';
import type { DoctorContext, DoctorParts, DoctorPlace } from '../../src/doctor/check.js';
import { tempFolder } from '../harness/temp-folder.js';
import { onPath } from '../harness/need-table.js';

const run = promisify(execFile);

/** Programs of this machine that the doctor or a mending command runs. */
const PROGRAMS = [
  'sh',
  'awk',
  'sed',
  'mkdir',
  'chmod',
  'ln',
  'mv',
  'cp',
  'cat',
  'touch',
  'npx',
  'node',
  'id',
  'kill',
];

/** What a person's machine has on it, in a folder of its own: all is well until a test breaks something. */
export interface SampleMachine {
  readonly root: string;
  readonly home: string;
  readonly bin: string;
  readonly project: string;
  readonly stateDir: string;
  readonly settingsFile: string;
  readonly claude: string;
  readonly claudeSettings: string;
  readonly policies: string;
  /** Of Claude Code as a client. */
  readonly clientSettings: string;
  /** Writes an executable shell script. */
  readonly script: (path: string, text: string) => Promise<void>;
  readonly settings: (value: unknown) => Promise<void>;
  readonly context: (more?: Partial<DoctorPlace & DoctorParts>) => DoctorContext;
  /** Runs a mending command as a person's shell does. */
  readonly shell: (command: string) => Promise<void>;
}

/** Answers as Claude Code does; `update` and `auth login` change what it answers next. */
const CLAUDE = `case "$*" in
  --version) echo "$(cat "$HOME/claude-version") (Claude Code)" ;;
  update) echo 2.1.330 > "$HOME/claude-version" ;;
  'auth status --json') cat "$HOME/claude-login" ;;
  'auth login') echo '{"loggedIn":true,"authMethod":"claude.ai"}' > "$HOME/claude-login" ;;
esac`;

export async function sampleMachine(): Promise<SampleMachine> {
  const root = await tempFolder();
  const folder = (name: string): string => join(root, name);
  const [home, bin, project, stateDir] = [folder('home'), folder('bin'), folder('app'), folder('home/state')];
  const settingsFile = join(home, '.config', 'mcp-claude-bridge', 'config.json');
  const claudeFolder = join(home, '.claude');
  const claude = join(home, '.local', 'bin', 'claude');
  for (const path of [
    bin,
    project,
    join(claude, '..'),
    join(settingsFile, '..'),
    claudeFolder,
    folder('run'),
  ])
    await mkdir(path, { recursive: true });
  await mkdir(stateDir, { mode: 0o700 });
  for (const name of PROGRAMS) {
    const found = name === 'node' ? process.execPath : onPath(name);
    if (found !== undefined) await symlink(found, join(bin, name));
  }
  const script = async (path: string, text: string): Promise<void> => {
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, 0o755);
  };
  await script(join(bin, 'git'), `echo 'git version 2.39.5'`);
  await script(claude, CLAUDE);
  await writeFile(join(home, 'claude-version'), '2.1.330\n');
  await writeFile(join(home, 'claude-login'), '{"loggedIn":true,"authMethod":"claude.ai"}\n');
  const machine: SampleMachine = {
    ...{ root, home, bin, project, stateDir, settingsFile, claude, script },
    claudeSettings: join(claudeFolder, 'settings.json'),
    policies: folder('policies.json'),
    clientSettings: join(home, '.claude.json'),
    settings: (value) => writeFile(settingsFile, JSON.stringify(value), { mode: 0o600 }),
    context: (more = {}) => makeContext({ ...placeOf(machine), ...more }, { ...parts, ...more }),
    shell: async (command) => {
      const env = { HOME: home, PATH: bin, EDITOR: join(bin, 'editor') };
      await run('/bin/sh', ['-c', command], { env, cwd: home });
    },
  };
  await machine.settings({ allowed_roots: [project], state_dir: stateDir });
  await writeFile(
    machine.clientSettings,
    JSON.stringify({ mcpServers: { [SERVER_NAME]: npxServerCommand } }),
  );
  return machine;
}

const parts: DoctorParts = {
  tryTask: async () => ({ ok: true, report: '' }),
  tryRules: async () => [],
};

function placeOf({ root, home, bin, policies, settingsFile }: SampleMachine): DoctorPlace {
  return {
    env: { HOME: home, PATH: bin, XDG_RUNTIME_DIR: join(root, 'run') },
    homeDir: home,
    cwd: home,
    platform: process.platform,
    uid: process.getuid?.() ?? 0,
    serverEntry: settingsFile,
    command: 'claude-code-bridge',
    managedSettings: [policies],
    testedClaude: ['2.1.197', '2.1.330'],
    signal: new AbortController().signal,
  };
}
