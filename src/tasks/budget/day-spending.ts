import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ignoreMissing } from '../../base/errors.js';
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
 * What the tasks and questions used that were started today, by the clock and the time zone of the machine, all but this task: by their
 * records, and by what `keepSpending` left of those that were removed. A cost that is not known counts as nothing. Throws STATE_UNUSABLE.
 */
export function spentByOthers(stateDir: StateDir, taskId: string, clock: Clock): () => Promise<Spent> {
  let read: { readonly atMs: number; readonly spent: Spent } | undefined;
  return async () => {
    const atMs = clock.monotonicMs();
    if (read === undefined || atMs - read.atMs >= FRESH_MS)
      read = { atMs, spent: await readOthers(stateDir, taskId, dayOf(clock.now())) };
    return read.spent;
  };
}

async function readOthers(stateDir: StateDir, taskId: string, today: string): Promise<Spent> {
  const counted = new Set([taskId]);
  let spent = NOTHING_SPENT;
  for (const id of await stateDir.listTaskIds()) {
    const record = recordOf(await readRecordFile(stateDir, id));
    if (record === undefined || id === taskId) continue;
    if (dayOf(Date.parse(record.created_at)) === today) {
      counted.add(id);
      spent = addedSpent(spent, spentBy(record));
      // The newest come first; the id of a session of a person says nothing of its time.
    } else if (!isNative(record)) break;
  }
  // Read last: a task that is removed meanwhile is counted once.
  const folder = join(stateDir.path, SPENT, today);
  for (const id of (await readdir(folder).catch(ignoreMissing)) ?? []) {
    const file = counted.has(id) ? undefined : await readJsonFile(join(folder, id), spentSchema);
    if (file?.state === 'ok') spent = addedSpent(spent, file.value);
  }
  return spent;
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
  for (const day of (await readdir(folder).catch(ignoreMissing)) ?? [])
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
