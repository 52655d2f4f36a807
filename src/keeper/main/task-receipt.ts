import { withinMs, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { claudeConfigDir } from '../../claude/transcript-files.js';
import type { StateDir } from '../../store/state-dir.js';
import { ReceiptGit, type ProjectLooker } from '../../tasks/receipt/receipt-git.js';
import { ReceiptMaker } from '../../tasks/receipt/receipt-maker.js';
import type { TaskRecord } from '../../tasks/task.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { loadReceiptParts } from './receipt-parts.js';

/** Limit for the whole receipt: two snapshots, a transcript, a journal. After it the keeper exits, even if something hangs. */
const FINISH_LIMIT_MS = 30_000;

export interface TaskReceiptParts {
  readonly spec: TaskSpec;
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The environment of the agent, which says where its transcripts are. */
  readonly env: Readonly<Record<string, string>>;
}

/** The receipt of the task that this process keeps: a first snapshot of its repository before the start, the rest after the end. */
export class TaskReceipt {
  readonly #parts: TaskReceiptParts;
  readonly #git: ReceiptGit;

  constructor(parts: TaskReceiptParts) {
    this.#parts = parts;
    this.#git = new ReceiptGit(parts.stateDir, () => snapshots(parts));
  }

  /** Takes the first snapshot, before the agent starts; resolves when it is done, within 10 s. Never rejects. */
  async firstSnapshot(): Promise<void> {
    const { task_id, project_path, purpose, worktree } = this.#parts.spec;
    if (purpose !== 'ask') await this.#git.lookBefore(task_id, project_path, worktree === undefined);
  }

  /** Makes the receipt. Never rejects: the next request for a missing receipt makes it again. */
  async finish(record: TaskRecord): Promise<void> {
    const { spec, stateDir, clock, logger, env } = this.#parts;
    if (spec.purpose === 'ask') return;
    const maker = new ReceiptMaker({
      stateDir,
      clock,
      logger,
      git: this.#git,
      claudeConfigDir: claudeConfigDir(env),
    });
    try {
      await withinMs(clock, FINISH_LIMIT_MS, maker.make(record, true));
    } catch (error) {
      logger.error('the receipt could not be made', { error: messageOf(error) });
    }
  }
}

async function snapshots({ spec, env }: TaskReceiptParts): Promise<ProjectLooker> {
  const { ProjectSnapshots, gitRunner, AllowedRoots } = await loadReceiptParts();
  const homeDir = env['HOME'] ?? '/';
  const roots = AllowedRoots.ofReal(spec.settings.allowed_roots ?? [spec.project_path], homeDir);
  const surroundings = { path: env['PATH'], homeDir, xdgConfigHome: env['XDG_CONFIG_HOME'] };
  return new ProjectSnapshots({ roots, runner: gitRunner(surroundings) });
}
