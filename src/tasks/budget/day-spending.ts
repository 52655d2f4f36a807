import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemCodeOf } from '../../base/errors.js';
import { makeFolders } from '../../base/files/folders.js';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import type { Clock } from '../../base/clock.js';
import type { StateDir } from '../../store/state-dir.js';
import { readRecordFile, recordOf } from '../record/record-file.js';
import { isNative, type TaskRecord } from '../task.js';
import { addedSpent, NOTHING_SPENT, type Spent } from './budget.js';

/** What other tasks have used is read again after this time. */
const FRESH_MS = 2_000;
/** Folder in the state directory: one for today, in it a file for each task that was removed. */
const SPENT = 'spent';
const OWNER_ONLY = 0o700;
const spentSchema = z.object({ costUsd: z.number(), tokens: z.number() });

/**
 * What the tasks and questions used that were started today, by the clock and the time zone of the machine: by their records, and by what
 * `keepSpending` left of those that were removed.
 */
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
    const today = dayOf(this.#clock.now());
    const counted = new Set([this.#taskId]);
    let spent = NOTHING_SPENT;
    for (const id of await this.#stateDir.listTaskIds()) {
      const record = recordOf(await readRecordFile(this.#stateDir, id));
      if (record === undefined || id === this.#taskId) continue;
      if (dayOf(Date.parse(record.created_at)) !== today) {
        // The newest come first; the id of a session of a person says nothing of its time.
        if (isNative(record)) continue;
        break;
      }
      counted.add(id);
      spent = addedSpent(spent, spentBy(record));
    }
    // Read last: a task that is removed meanwhile is counted once.
    const folder = join(this.#stateDir.path, SPENT, today);
    for (const id of await namesIn(folder)) {
      const file = counted.has(id) ? undefined : await readJsonFile(join(folder, id), spentSchema);
      if (file?.state === 'ok') spent = addedSpent(spent, file.value);
    }
    return spent;
  }
}

/** Before the record of a task of today is removed: leaves what it used, which counts until the day is over. Throws STATE_UNUSABLE. */
export async function keepSpending(
  stateDir: StateDir,
  record: Pick<TaskRecord, 'task_id' | 'created_at' | 'cost_usd' | 'tokens'>,
  nowMs: number,
): Promise<void> {
  const today = dayOf(nowMs);
  const spent = spentBy(record);
  if (dayOf(Date.parse(record.created_at)) !== today || (spent.costUsd === 0 && spent.tokens === 0)) return;
  const folder = join(stateDir.path, SPENT);
  for (const day of await namesIn(folder))
    if (day !== today) await rm(join(folder, day), { recursive: true, force: true });
  await makeFolders(join(folder, today), OWNER_ONLY);
  await writeJsonFileAtomically(join(folder, today, record.task_id), spent, { durable: false });
}

function spentBy({ cost_usd, tokens }: Pick<TaskRecord, 'cost_usd' | 'tokens'>): Spent {
  return { costUsd: cost_usd ?? 0, tokens: tokens ?? 0 };
}

/** By the time zone of this machine, as the name of a folder. */
function dayOf(ms: number): string {
  return new Date(ms).toDateString().replaceAll(' ', '-');
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
