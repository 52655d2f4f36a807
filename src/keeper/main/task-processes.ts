import { systemClock } from '../../base/system-clock.js';
import type { Pid } from '../../os/pid.js';
import { killTree, type KillReport, type KillTarget } from '../../pty/kill-ladder.js';
import type { TaskPlan } from './task-plan.js';

/** Time between SIGTERM and SIGKILL for processes that are left when the agent is gone. */
const LEFTOVER_GRACE_MS = 1_000;

/**
 * Ends the processes of one task, in one call after the other: when an agent exits at SIGTERM, its children have the whole grace time
 * of that SIGTERM to clean up before leftovers are ended.
 */
export class TaskProcesses {
  readonly #plan: TaskPlan;
  #running: Promise<unknown> = Promise.resolve();

  constructor(plan: TaskPlan) {
    this.#plan = plan;
  }

  /** Ends the agent with all that belongs to it. `isWrapped` as in KillTarget. */
  async end(pid: Pid | undefined, isWrapped: boolean): Promise<void> {
    const { remaining } = await this.#kill({ pid, isWrapped });
    if (remaining.length > 0)
      this.#plan.logger.error('processes could not be ended', { pids: remaining.map((one) => one.pid) });
  }

  /** Ends what the agent left behind; resolves with the names of those programs. */
  async endLeftovers(): Promise<readonly string[]> {
    const { ended } = await this.#kill({ graceMs: LEFTOVER_GRACE_MS });
    // The shell around the agent is this process's own child, and may take a moment to go.
    return ended.filter(({ parentPid }) => parentPid !== process.pid).map(({ name }) => name);
  }

  #kill(target: Pick<KillTarget, 'pid' | 'isWrapped' | 'graceMs'>): Promise<KillReport> {
    const { mark, owner } = this.#plan;
    // Nothing that ran before this keeper can be its task's.
    const family = { mark, startedSince: owner.start_time ?? undefined };
    const report = this.#running.then(() => killTree({ ...target, ...family, clock: systemClock }));
    // The caller gets the error; the next call runs anyway.
    this.#running = report.catch(() => undefined);
    return report;
  }
}
