import { systemClock } from '../base/system-clock.js';
import { claudeConfigDir } from '../claude/transcripts.js';
import {
  readFileSide,
  readFilesPatch,
  type FilesPatchQuery,
  type FileSideQuery,
} from '../git/diff/files-patch.js';
import { ProjectExplorer } from '../files/project-explorer.js';
import { GitService } from '../git/git-service.js';
import { queryEnvironment } from '../git/run/git-settings.js';
import { GitRunner } from '../git/run/run-git.js';
import { ProjectSnapshots } from '../git/state/project-snapshots.js';
import { undoChanges, type UndoQuery } from '../git/state/undo-changes.js';
import { Worktrees } from '../git/worktree/worktrees.js';
import type { TakeChunk } from '../os/run-program.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import type { StateDir } from '../store/state-dir.js';
import { TaskReceipts } from '../tasks/receipt/task-receipts.js';
import type { BridgeOptions } from './open-state.js';

/** What the bridge does with folders and git in the allowed roots. */
export function gitServices({ env, homeDir, config, logger }: BridgeOptions, roots: AllowedRoots) {
  const context = { path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] };
  const parts = { roots, runner: new GitRunner(context), opener: new PathOpener(roots) };
  return {
    /** For what reads repositories of tasks. */
    door: parts,
    tools: (activeProject: ActiveProject) =>
      new GitService({ ...parts, activeProject, maxDiffBytes: config.max_diff_size_bytes }),
    explorer: (activeProject: ActiveProject) =>
      new ProjectExplorer({
        ...parts,
        activeProject,
        git: parts.runner,
        env: queryEnvironment(context),
        defaultDepth: config.default_tree_depth,
      }),
    worktrees: new Worktrees(parts),
    /** Takes back what a task changed in a shared folder; throws as `undoChanges`. */
    undo: (query: UndoQuery) => undoChanges(parts, query),
    /** Passes the patch of files on; throws as `readFilesPatch`. */
    readPatch: (query: FilesPatchQuery, take: TakeChunk, signal: AbortSignal) =>
      readFilesPatch(parts, query, take, signal),
    /** The bytes of one file of a patch; throws as `readFileSide`. */
    readSide: (query: FileSideQuery, signal: AbortSignal) => readFileSide(parts, query, signal),
    /** What tasks did and changed: one answer for the page, the commands and the tools. */
    ofTasks: (stateDir: StateDir) =>
      new TaskReceipts({
        stateDir,
        clock: systemClock,
        logger,
        looker: async () => new ProjectSnapshots(parts),
        claudeConfigDir: claudeConfigDir(env),
      }),
  };
}

export type GitServices = ReturnType<typeof gitServices>;
