import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMMON_FOLDER, sandboxPaths } from '../approvals/sandbox-paths.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { compareVersions, type Installation } from '../claude/installation.js';
import { SANDBOX_ENVIRONMENT } from '../claude/launch.js';
import { checkSandbox } from '../claude/sandbox/check-sandbox.js';
import { checkSettings } from '../claude/sandbox/check-settings.js';
import { cliSandbox, type CliSandbox } from '../claude/sandbox/cli-sandbox.js';
import type { GitMasks } from './git-masks.js';
import type { TaskSpec } from '../tasks/task-spec.js';

/** The oldest version in which the tests have attacked the sandbox; an older one passes over settings that it does not know. */
const OLDEST_SANDBOX_VERSION = '2.1.197';

export interface TaskSandboxParts {
  readonly spec: TaskSpec;
  readonly installation: Installation;
  readonly version: () => Promise<string | undefined>;
  /** The environment of the agent. */
  readonly env: Readonly<Record<string, string>>;
  readonly homeDir: string;
  readonly stateDir: string;
  /** Folder of this task alone, for temporary files of its commands. */
  readonly tempDir: string;
}

export interface TaskSandbox {
  readonly sandbox: CliSandbox;
  /** Called before a command is let run. */
  readonly beforeCommand: () => Promise<void>;
  /** Takes back what was put into the project for the time of the task. */
  readonly end: () => Promise<void>;
  readonly gitMasks: GitMasks;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The sandbox for the commands of a task in mode sandboxed; undefined in other modes. Throws SANDBOX_UNAVAILABLE when
 * something is missing that it needs.
 */
export async function taskSandbox(parts: TaskSandboxParts): Promise<TaskSandbox | undefined> {
  const { spec, env, homeDir, tempDir } = parts;
  if (spec.permission_mode !== 'sandboxed') return undefined;
  checkPlace(parts);
  await checkVersion(parts);
  await checkSandbox({ platform: process.platform, env });
  const projectPath = spec.project_path;
  const userFolder = env['CLAUDE_CONFIG_DIR'] ?? join(homeDir, '.claude');
  await checkSettings({ projectPath, userFolder });
  const found = await sandboxPaths(projectPath, homeDir, {
    gitFolders: gitFolders(spec),
    madeFrom: spec.worktree?.project_path,
  });
  const around = spec.worktree === undefined ? [] : [join(spec.worktree.project_path, '.git')];
  const paths = { ...found, denyWrite: [...found.denyWrite, ...around.flatMap(heldInRepository)] };
  const commonFolders = new CommonFolders([...found.repositories, ...around]);
  await mkdir(tempDir, { mode: 0o700 });
  return {
    beforeCommand: () => commonFolders.hold(),
    end: async () => {
      await commonFolders.release();
      await rm(tempDir, { recursive: true, force: true });
    },
    gitMasks: { projectPath, denyRead: paths.denyRead },
    sandbox: cliSandbox({
      paths,
      domains: spec.settings.sandbox_domains ?? [],
      env,
      passed: spec.settings.pass_environment,
    }),
    env: { ...SANDBOX_ENVIRONMENT, CLAUDE_CODE_TMPDIR: tempDir },
  };
}

function heldInRepository(gitFolder: string): string[] {
  return [COMMON_FOLDER, 'modules'].map((name) => join(gitFolder, name));
}

/**
 * The file `commondir` of repositories names a folder whose config git obeys instead of the repository's own. A sandbox can
 * keep a file from being written only where there is one, so one is made that names the repository itself.
 */
class CommonFolders {
  readonly #gitFolders: readonly string[];
  readonly #made = new Set<string>();

  constructor(gitFolders: readonly string[]) {
    this.#gitFolders = gitFolders;
  }

  /** Called before each command: another task in the same repository takes its own file back when it ends. */
  async hold(): Promise<void> {
    for (const gitFolder of this.#gitFolders) {
      const file = join(gitFolder, COMMON_FOLDER);
      try {
        await writeFile(file, '.\n', { flag: 'wx' });
        this.#made.add(file);
      } catch (fault) {
        // It is there, or the folder is none of a repository.
        const code = systemCodeOf(fault);
        if (code !== 'EEXIST' && code !== 'ENOENT' && code !== 'ENOTDIR') throw fault;
      }
    }
  }

  async release(): Promise<void> {
    for (const file of this.#made) await rm(file, { force: true });
  }
}

/** A worktree's own folder in the repository: writable for git, and not to be replaced. */
function gitFolders({ worktree, task_id }: TaskSpec): string[] {
  if (worktree === undefined) return [];
  const worktrees = join(worktree.project_path, '.git', 'worktrees');
  return [worktrees, join(worktrees, task_id)];
}

function checkPlace({ spec, homeDir, stateDir }: TaskSandboxParts): void {
  if (spec.container !== undefined)
    throw refused(
      'the task has a container: no sandbox can be made in it, and the container holds what commands reach.',
    );
  for (const inner of [homeDir, stateDir]) {
    if (inner === spec.project_path || inner.startsWith(`${spec.project_path}/`))
      throw refused(`the project ${spec.project_path} holds ${inner}, which commands must not write.`);
  }
}

async function checkVersion({ installation, version }: TaskSandboxParts): Promise<void> {
  if (!installation.isClaude)
    throw refused(
      'the setting claude_command names a program that is not Claude Code.',
      'Ask the user to set claude_command (MCP_CLAUDE_COMMAND) to Claude Code.',
    );
  const found = await version();
  if (found === undefined)
    throw refused(
      'the program that the setting claude_command names does not print the version of Claude Code with --version.',
      'Ask the user to set claude_command (MCP_CLAUDE_COMMAND) to Claude Code.',
    );
  if (compareVersions(found, OLDEST_SANDBOX_VERSION) < 0)
    throw new BridgeError(
      'CLAUDE_TOO_OLD',
      `Mode sandboxed needs Claude Code ${OLDEST_SANDBOX_VERSION} or newer; this is ${found}.`,
      'Update it (claude update, or npm install -g @anthropic-ai/claude-code), or use permission_mode "cautious".',
    );
}

function refused(why: string, hint = 'Use permission_mode "cautious", or another project.'): BridgeError {
  return new BridgeError('SANDBOX_UNAVAILABLE', `Mode sandboxed was asked for, but ${why}`, hint);
}
