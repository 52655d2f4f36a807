import { withinMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { systemClock } from '../../base/system-clock.js';
import { claudeConfigDir } from '../../claude/transcripts.js';
import { ReceiptGit, type ProjectLooker } from '../../tasks/receipt/receipt-git.js';
import { TaskReceipts } from '../../tasks/receipt/task-receipts.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import type { TaskPlan } from './task-plan.js';

/** Limit for the whole receipt: two snapshots, a transcript, a journal. After it the keeper exits, even if something hangs. */
const FINISH_LIMIT_MS = 30_000;

/** The receipt of the task that this process keeps: a first snapshot of its repository before the start, the rest after the end. */
export class TaskReceipt {
  readonly #plan: TaskPlan;
  /** The environment of the agent, which says where its transcripts are. */
  readonly #env: Readonly<Record<string, string>>;
  readonly #git: ReceiptGit;

  constructor(plan: TaskPlan, env: Readonly<Record<string, string>>) {
    this.#plan = plan;
    this.#env = env;
    this.#git = new ReceiptGit(plan.stateDir, () => snapshots(plan.spec, env));
  }

  /** Takes the first snapshot, before the agent starts; resolves when it is done, within 10 s. Never rejects. */
  async firstSnapshot(): Promise<void> {
    const { task_id, project_path, purpose, worktree } = this.#plan.spec;
    if (purpose !== 'ask') await this.#git.lookBefore(task_id, project_path, worktree === undefined);
  }

  /** Makes the receipt. Never rejects: the next request for a missing receipt makes it again. */
  async finish(record: TaskRecord): Promise<void> {
    const { spec, stateDir, logger } = this.#plan;
    const clock = systemClock;
    if (spec.purpose === 'ask') return;
    const receipts = new TaskReceipts({
      stateDir,
      clock,
      logger,
      git: this.#git,
      claudeConfigDir: claudeConfigDir(this.#env),
    });
    try {
      await withinMs(clock, FINISH_LIMIT_MS, receipts.make(record, true));
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
