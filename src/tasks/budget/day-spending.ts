import type { Clock } from '../../base/clock.js';
import type { StateDir } from '../../store/state-dir.js';
import { readRecordFile, recordOf } from '../record/record-file.js';
import { addedSpent, NOTHING_SPENT, type Spent } from './budget.js';

/** What other tasks have used is read again after this time. */
const FRESH_MS = 2_000;

/** What the tasks and questions used that were started today, by the clock and the time zone of the machine, by their records. */
export class DaySpending {
  readonly #stateDir: StateDir;
  readonly #taskId: string;
  readonly #clock: Clock;
  #read: { readonly atMs: number; readonly spent: Spent } | undefined;

  constructor(stateDir: StateDir, taskId: string, clock: Clock) {
    this.#stateDir = stateDir;
    this.#taskId = taskId;
    this.#clock = clock;
  }

  /** Of all but this task; a cost that is not known counts as nothing. Throws STATE_UNUSABLE. */
  async others(): Promise<Spent> {
    const atMs = this.#clock.monotonicMs();
    if (this.#read === undefined || atMs - this.#read.atMs >= FRESH_MS)
      this.#read = { atMs, spent: await this.#readOthers() };
    return this.#read.spent;
  }

  async #readOthers(): Promise<Spent> {
    const today = new Date(this.#clock.now()).toDateString();
    let spent = NOTHING_SPENT;
    for (const id of await this.#stateDir.listTaskIds('creation')) {
      const record = recordOf(await readRecordFile(this.#stateDir, id));
      if (record === undefined || id === this.#taskId) continue;
      // The newest come first.
      if (new Date(record.created_at).toDateString() !== today) break;
      spent = addedSpent(spent, { costUsd: record.cost_usd ?? 0, tokens: record.tokens ?? 0 });
    }
    return spent;
  }
}
