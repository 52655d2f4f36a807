import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { claudeConfigDir } from '../../claude/transcripts.js';
import { lookBefore, type ProjectLooker } from '../../tasks/receipt/receipt-git.js';
import { TaskReceipts, type TaskReceiptsParts } from '../../tasks/receipt/task-receipts.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import type { TaskPlan } from './task-plan.js';

/** Limit for the whole receipt: two snapshots, a transcript, a journal. After it the keeper exits, even if something hangs. */
const FINISH_LIMIT_MS = 30_000;

/** The receipt of the task that this process keeps: a first snapshot of its repository before the start, the rest after the end. */
export class TaskReceipt {
  readonly #plan: TaskPlan;
  readonly #parts: TaskReceiptsParts;

  /** `env` is the environment of the agent, which says where its transcripts are. */
  constructor(plan: TaskPlan, env: Readonly<Record<string, string>>) {
    const { spec, stateDir, logger } = plan;
    const looker = () => snapshots(spec, env);
    this.#plan = plan;
    this.#parts = { stateDir, clock: systemClock, logger, looker, claudeConfigDir: claudeConfigDir(env) };
  }

  /** Takes the first snapshot, before the agent starts; resolves when it is done, within 10 s. Never rejects. */
  async firstSnapshot(): Promise<void> {
    const { spec } = this.#plan;
    if (spec.purpose !== 'ask') await lookBefore(this.#parts, spec);
  }

  /** Makes the receipt. Never rejects: the next request for a missing receipt makes it again. */
  async finish(record: TaskRecord): Promise<void> {
    const { spec, logger } = this.#plan;
    if (spec.purpose === 'ask') return;
    try {
      const receipt = new TaskReceipts(this.#parts).make(record, true);
      await withinMs(systemClock, FINISH_LIMIT_MS, receipt);
    } catch (error) {
      logger.error('the receipt could not be made', { error: messageOf(error) });
    }
  }
}

async function snapshots(spec: TaskSpec, env: Readonly<Record<string, string>>): Promise<ProjectLooker> {
  // Loaded while the agent runs.
  const [{ ProjectSnapshots }, { gitRunner }, { AllowedRoots }] = await Promise.all([
    import('../../git/state/project-snapshots.js'),
    import('../../git/run/run-git.js'),
    import('../../projects/allowed-roots.js'),
  ]);
  const homeDir = env['HOME'] ?? '/';
  const roots = AllowedRoots.ofReal(spec.settings.allowed_roots ?? [spec.project_path], homeDir);
  const surroundings = { path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] };
  return new ProjectSnapshots({ roots, runner: gitRunner(surroundings) });
}
