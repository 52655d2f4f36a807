import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { claudeConfigDir } from '../../claude/transcripts.js';
import { lookBefore } from '../../tasks/receipt/receipt-git.js';
import { TaskReceipts, type TaskReceiptsParts } from '../../tasks/receipt/task-receipts.js';
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
  const { project_path: project, settings } = spec;
  const clock = systemClock;
  const looker: TaskReceiptsParts['looker'] = async () => {
    // Loaded while the agent runs.
    const [{ ProjectSnapshots }, { GitRunner }, { AllowedRoots }] = await Promise.all([
      import('../../git/state/project-snapshots.js'),
      import('../../git/run/run-git.js'),
      import('../../projects/allowed-roots.js'),
    ]);
    const homeDir = env['HOME'] ?? '/';
    const roots = AllowedRoots.ofReal(settings.allowed_roots ?? [project], homeDir);
    const runner = new GitRunner({ path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] });
    return new ProjectSnapshots({ roots, runner });
  };
  const parts = { stateDir, clock, logger, looker, claudeConfigDir: claudeConfigDir(env) };
  return {
    firstSnapshot: () => lookBefore(parts, spec),
    finish: async (record) => {
      const made = new TaskReceipts(parts).make(record, true);
      await withinMs(clock, FINISH_LIMIT_MS, made).catch((error: unknown) =>
        logger.error('the receipt could not be made', { error: messageOf(error) }),
      );
    },
  };
}
