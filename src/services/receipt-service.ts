import { systemClock } from '../base/system-clock.js';
import { claudeConfigDir } from '../claude/transcript-files.js';
import { ProjectSnapshots } from '../git/state/project-snapshots.js';
import { gitRunner } from '../git/run/run-git.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { StateDir } from '../store/state-dir.js';
import { ReceiptGit } from '../tasks/receipt/receipt-git.js';
import { ReceiptMaker } from '../tasks/receipt/receipt-maker.js';
import { TaskReceipts } from '../tasks/receipt/task-receipts.js';
import { gitContext } from './git-context.js';
import type { BridgeOptions } from './options.js';

export function createReceiptService(
  options: BridgeOptions,
  roots: AllowedRoots,
  stateDir: StateDir,
): TaskReceipts {
  const { env, logger } = options;
  const clock = systemClock;
  return new TaskReceipts({
    stateDir,
    clock,
    logger,
    maker: new ReceiptMaker({
      stateDir,
      clock,
      logger,
      git: createReceiptGit(options, roots, stateDir),
      claudeConfigDir: claudeConfigDir(env),
    }),
  });
}

/** For a task that still runs, and for a patch of what a task changed. */
export function createReceiptGit(
  options: BridgeOptions,
  roots: AllowedRoots,
  stateDir: StateDir,
): ReceiptGit {
  const runner = gitRunner(gitContext(options));
  return new ReceiptGit(stateDir, async () => new ProjectSnapshots({ roots, runner }));
}
