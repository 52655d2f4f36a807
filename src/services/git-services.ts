import { systemClock } from '../base/system-clock.js';
import { claudeConfigDir } from '../claude/transcripts.js';
import { readFileSide, type FileSideQuery } from '../git/diff/file-side.js';
import { readFilesPatch, type FilesPatchQuery } from '../git/diff/files-patch.js';
import { GitService } from '../git/git-service.js';
import type { GitContext } from '../git/run/git-environment.js';
import { gitRunner } from '../git/run/run-git.js';
import { ProjectSnapshots } from '../git/state/project-snapshots.js';
import { undoChanges, type UndoQuery, type UndoReport } from '../git/state/undo-changes.js';
import { Worktrees } from '../git/worktree/worktrees.js';
import type { TakeChunk } from '../os/run-program.js';
import type { ActiveProject } from '../projects/active-project.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import { PathOpener } from '../projects/path-opener.js';
import type { StateDir } from '../store/state-dir.js';
import { TaskReceipts } from '../tasks/receipt/task-receipts.js';
import type { BridgeOptions } from './open-state.js';

/** Passes the patch of files on; throws as `readFilesPatch`. */
export type FilesPatches = (query: FilesPatchQuery, take: TakeChunk, signal: AbortSignal) => Promise<void>;
/** The bytes of one file of a patch; throws as `readFileSide`. */
export type FileSides = (query: FileSideQuery, signal: AbortSignal) => Promise<Buffer | undefined>;

/** What git gets of the server's own environment. */
export function gitContext({ env, homeDir }: Pick<BridgeOptions, 'env' | 'homeDir'>): GitContext {
  return { path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] };
}

export function createGitService(options: BridgeOptions, roots: AllowedRoots, activeProject: ActiveProject) {
  const { max_diff_size_bytes: maxDiffBytes } = options.config;
  return new GitService({ roots, activeProject, runner: gitRunner(gitContext(options)), maxDiffBytes });
}

export function createWorktrees(options: BridgeOptions, roots: AllowedRoots): Worktrees {
  return new Worktrees({ roots, runner: gitRunner(gitContext(options)) });
}

export function createFilesPatches(options: BridgeOptions, roots: AllowedRoots): FilesPatches {
  const parts = { roots, runner: gitRunner(gitContext(options)) };
  return (query, take, signal) => readFilesPatch(parts, query, take, signal);
}

export function createFileSides(options: BridgeOptions, roots: AllowedRoots): FileSides {
  const parts = { roots, runner: gitRunner(gitContext(options)), opener: new PathOpener(roots) };
  return (query, signal) => readFileSide(parts, query, signal);
}

/** What tasks did and changed: one answer for the page, the commands and the tools. */
export function createReceiptService(options: BridgeOptions, roots: AllowedRoots, stateDir: StateDir) {
  const runner = gitRunner(gitContext(options));
  return new TaskReceipts({
    stateDir,
    clock: systemClock,
    logger: options.logger,
    looker: async () => new ProjectSnapshots({ roots, runner }),
    claudeConfigDir: claudeConfigDir(options.env),
  });
}

/** Takes back what a task changed in a shared folder; throws as `undoChanges`. */
export function undo(options: BridgeOptions, roots: AllowedRoots, query: UndoQuery): Promise<UndoReport> {
  return undoChanges({ roots, runner: gitRunner(gitContext(options)) }, query);
}
