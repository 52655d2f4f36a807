import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { claudeConfigDir } from '../../claude/transcripts.js';
import { ReceiptGit } from '../../tasks/receipt/receipt-git.js';
import { TaskReceipts } from '../../tasks/receipt/task-receipts.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { TaskPlan } from './task-plan.js';

/** Limit for the whole receipt: two snapshots, a transcript, a journal. After it the keeper exits, even if something hangs. */
const FINISH_LIMIT_MS = 30_000;

export interface TaskReceipt {
  /** Takes the first snapshot, before the agent starts; resolves when it is done, within 10 s. Never rejects. */
  firstSnapshot(): Promise<void>;
  /** Makes the receipt. Never rejects: the next request for a missing receipt makes it again. */
  finish(record: TaskRecord): Promise<void>;
}

/** The receipt of the task that this process keeps. `env` is that of the agent, which says where its transcripts are. */
export function taskReceipt(
  { spec, stateDir, logger }: TaskPlan,
  env: Readonly<Record<string, string>>,
): TaskReceipt {
  const { task_id: taskId, project_path: project, worktree, settings } = spec;
  const git = new ReceiptGit(stateDir, async () => {
    // Loaded while the agent runs.
    const [{ ProjectSnapshots }, { gitRunner }, { AllowedRoots }] = await Promise.all([
      import('../../git/state/project-snapshots.js'),
      import('../../git/run/run-git.js'),
      import('../../projects/allowed-roots.js'),
    ]);
    const homeDir = env['HOME'] ?? '/';
    const roots = AllowedRoots.ofReal(settings.allowed_roots ?? [project], homeDir);
    const runner = gitRunner({ path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] });
    return new ProjectSnapshots({ roots, runner });
  });
  const clock = systemClock;
  return {
    firstSnapshot: () => git.lookBefore(taskId, project, worktree === undefined),
    finish: async (record) => {
      const claudeFolder = claudeConfigDir(env);
      const receipts = new TaskReceipts({ stateDir, clock, logger, git, claudeConfigDir: claudeFolder });
      await withinMs(clock, FINISH_LIMIT_MS, receipts.make(record, true)).catch((error: unknown) =>
        logger.error('the receipt could not be made', { error: messageOf(error) }),
      );
    },
  };
}
