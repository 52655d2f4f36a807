import { systemClock } from '../base/system-clock.js';
import { claudeConfigDir } from '../claude/transcript-files.js';
import { ProjectSnapshots } from '../git/state/project-snapshots.js';
import { gitRunner } from '../git/run/run-git.js';
import type { AllowedRoots } from '../projects/allowed-roots.js';
import type { StateDir } from '../store/state-dir.js';
import { ReceiptGit } from '../tasks/receipt/receipt-git.js';
import { ReceiptMaker } from '../tasks/receipt/receipt-maker.js';
import { taskPatch, type TaskChanges } from '../tasks/receipt/task-patch.js';
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

/** What tasks changed: one answer for the page, the commands and the tools. */
export function createTaskChanges(
  options: BridgeOptions,
  roots: AllowedRoots,
  stateDir: StateDir,
  receipts: TaskReceipts,
): TaskChanges {
  const git = createReceiptGit(options, roots, stateDir);
  const reportOf: TaskChanges['reportOf'] = async (record) =>
    (await receipts.receiptOf(record, new AbortController().signal))?.git ?? git.report(record);
  const patchOf: TaskChanges['patchOf'] = (record) =>
    taskPatch(record, reportOf, ReceiptGit.objects(stateDir, record.task_id));
  return { reportOf, patchOf };
}

function createReceiptGit(options: BridgeOptions, roots: AllowedRoots, stateDir: StateDir): ReceiptGit {
  const runner = gitRunner(gitContext(options));
  return new ReceiptGit(stateDir, async () => new ProjectSnapshots({ roots, runner }));
}
