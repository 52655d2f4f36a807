import { existsSync } from 'node:fs';
import { lstat, mkdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { deniedEdits, deniedReads } from '../../approvals/cli-permissions.js';
import type { RuleRow } from '../../approvals/modes.js';
import {
  asPattern,
  checkHeld,
  GIT_FOLDERS,
  pinAbove,
  protectedInRepository,
  refused,
  sandboxPaths,
  type SandboxPaths,
} from '../../approvals/sandbox-paths.js';
import { ignoreSystemError } from '../../base/errors.js';
import { isWithin } from '../../projects/path-in-project.js';
import { WORKTREES_FOLDER } from '../../projects/worktree-path.js';
import type { Installation } from '../../claude/installation.js';
import { checkSandbox, ownTemporaryFolder } from '../../claude/sandbox/check-sandbox.js';
import { checkSettings } from '../../claude/own-settings.js';
import { cliSandbox } from '../../claude/sandbox/cli-sandbox.js';
import { folderInProject, LOG_FOLDER } from '../../tasks/project-folder.js';
import { readRecordFile } from '../../tasks/record/record-file.js';
import { isFinal } from '../../tasks/task.js';
import type { TaskPlan } from '../main/task-plan.js';
import { commonFolders, obeyedPaths, repositoryAround } from './repository-around.js';

export interface TaskSandboxParts {
  readonly plan: TaskPlan;
  readonly installation: Installation;
  readonly version: () => Promise<string | undefined>;
  /** Where the project's own configuration lies that runs outside of the sandbox. */
  readonly trusted: readonly string[];
  /** Of the settings and of the project. */
  readonly rules: readonly RuleRow[];
  /** Folder of this task alone, for temporary files. */
  readonly tempDir: string;
}

/**
 * The sandbox for the commands of a task in mode sandboxed; undefined in other modes. Throws SANDBOX_UNAVAILABLE when
 * it needs something that is missing.
 */
export async function taskSandbox(parts: TaskSandboxParts) {
  const { spec, childEnv: env, homeDir, stateDir } = parts.plan;
  if (spec.permission_mode !== 'sandboxed') return undefined;
  await checkPlace(parts);
  await checkSandbox({ platform: process.platform, env });
  const { project_path: projectPath, task_id: taskId } = spec;
  const userFolder = env['CLAUDE_CONFIG_DIR'] ?? join(homeDir, '.claude');
  await checkSettings(userFolder);
  const worktrees = await folderInProject(projectPath, WORKTREES_FOLDER);
  const { paths, notHeld } = await protectedPaths(parts, userFolder);
  // Git needs these as folders.
  const mustNotBeFiles = await pathsMissing([
    join(projectPath, '.git'),
    ...paths.repositories.flatMap((folder) => GIT_FOLDERS.map((name) => join(folder, name))),
  ]);
  const common = commonFolders({
    gitFolders: paths.repositories,
    taskId,
    notesFolder: join(stateDir.path, 'sandboxes'),
    mayRun: async (other) => {
      const file = await readRecordFile(stateDir, other).catch(() => undefined);
      return file?.state === 'ok' ? !isFinal(file.record.status) : file?.state !== 'missing';
    },
  });
  const shared = join(parts.tempDir, 'shared');
  await mkdir(shared, { mode: 0o700 });
  const before = await ownTemporaryFolder(shared, { platform: process.platform, env });
  // Claude Code removes files that were missing when it started, also while another task needs them.
  await common.hold();
  const sandbox = cliSandbox({
    paths: { ...paths, denyRead: [...paths.denyRead, ...(await ownDoors(stateDir.path))] },
    domains: spec.settings.sandbox_domains ?? [],
    env,
    passed: spec.settings.pass_environment,
  });
  const { allowWrite, denyWrite, denyRead } = sandbox.filesystem;
  return {
    /** Words before the command of Claude Code, by which it has a folder for temporary files of its own; undefined where that is not possible. */
    before,
    /** Called before a command may run. */
    beforeCommand: common.hold,
    /** Removes what was created in the project for the time of the task. */
    end: async () => {
      await common.release();
      await removeEmpty(mustNotBeFiles);
      // Stays where something uses it.
      await rmdir(worktrees).catch(ignoreSystemError);
    },
    gitMasks: { projectPath, denyRead: paths.denyRead },
    /** Rules that deny edits, which programs can make in some places. */
    notHeld,
    sandbox,
    /** The same for checks. Claude Code adds what it lets commands write, and keeps them from its own settings. */
    checks: {
      network: { allowedDomains: [...sandbox.network.allowedDomains] },
      filesystem: {
        allowWrite: [projectPath, parts.tempDir, ...paths.repositories, ...allowWrite],
        denyWrite: [...denyWrite, join(projectPath, '.claude')],
        denyRead: [...denyRead, ...deniedReads(parts.rules, projectPath, homeDir)],
      },
    },
  };
}

/** What commands may not read or write: secrets, what runs or instructs later, what rules deny, and what git uses of the repository around. */
async function protectedPaths(
  { plan: { spec, homeDir }, rules, trusted: named }: TaskSandboxParts,
  userFolder: string,
): Promise<{ readonly paths: SandboxPaths; readonly notHeld: readonly string[] }> {
  const projectPath = spec.project_path;
  const around = await repositoryAround(projectPath);
  const { gitFolder, commonFolder } = around ?? {};
  const found = await sandboxPaths(projectPath, homeDir, {
    gitFolders: around === undefined ? [] : [join(around.commonFolder, 'worktrees'), around.gitFolder],
    madeFrom: spec.worktree?.project_path,
    userFolder,
  });
  const repositories = [...found.repositories, ...(commonFolder === undefined ? [] : [commonFolder])];
  const obeyed = await Promise.all(repositories.map((folder) => obeyedPaths(folder, projectPath)));
  const edits = deniedEdits(rules, projectPath, homeDir);
  const held = [...named.filter((path) => existsSync(path)), ...edits.paths];
  const denyWrite = [
    ...found.denyWrite,
    ...(commonFolder === undefined ? [] : protectedInRepository(commonFolder)),
    ...(gitFolder === undefined ? [] : ['commondir', 'gitdir'].map((name) => join(gitFolder, name))),
    ...obeyed.flat(),
    ...held.map(asPattern),
    ...(spec.purpose === 'ask' ? [] : [join(projectPath, LOG_FOLDER)]),
  ];
  const pinned = new Set(found.pinned);
  for (const path of held)
    if (path !== projectPath && isWithin(path, projectPath)) pinAbove(path, projectPath, pinned);
  checkHeld(denyWrite);
  const paths = { ...found, repositories, denyWrite: [...new Set(denyWrite)], pinned: [...pinned] };
  return { paths, notHeld: edits.elsewhere };
}

/** The folders with whose tokens a command could act as the person. */
async function ownDoors(statePath: string): Promise<string[]> {
  const doors = ['board', 'editors'].map((name) => join(statePath, name));
  for (const door of doors) await mkdir(door, { recursive: true, mode: 0o700 });
  return doors.map(asPattern);
}

async function pathsMissing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => lstat(path).catch(ignoreSystemError)));
  return paths.filter((_, index) => found[index] === undefined);
}

/** After a power failure or a crash of Claude Code, there is an empty file where the sandbox masked a missing one. */
async function removeEmpty(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const stats = await lstat(path).catch(ignoreSystemError);
    if (stats?.isFile() === true && stats.size === 0) await rm(path, { force: true });
  }
}

async function checkPlace({ plan, installation, version }: TaskSandboxParts): Promise<void> {
  const { spec, homeDir, stateDir } = plan;
  if (spec.container !== undefined)
    throw refused(
      'the task has a container: no sandbox can be created in it, and the container itself limits what commands reach.',
    );
  for (const inner of [homeDir, stateDir.path]) {
    if (inner === spec.project_path || inner.startsWith(`${spec.project_path}/`))
      throw refused(`the project ${spec.project_path} contains ${inner}, where commands must not write.`);
  }
  if (!installation.isClaude || (await version()) === undefined)
    throw refused(
      'the program that the setting claude_command names is not Claude Code, or does not print its version with --version.',
      'Set claude_command (MCP_CLAUDE_COMMAND) to Claude Code.',
    );
}
