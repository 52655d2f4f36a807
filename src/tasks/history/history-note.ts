import { join } from 'node:path';
import { z } from 'zod';
import { readJsonFile, writeJsonFileAtomically } from '../../base/files/json-file.js';
import { countedNoun } from '../../base/text/text.js';
import { taskParts, type Removal } from './history-plan.js';

const noteSchema = z.object({ words: z.string() });
const nouns = { recording: 'recording', logs: 'log', task: 'task' } as const;
const settings = {
  number: 'task_history_size',
  age: 'task_history_days',
  size: 'task_history_bytes',
} as const;

/** Leaves in `history.json` of the state directory what the history has just lost. Throws STATE_UNUSABLE. */
export async function noteRemovals(
  statePath: string,
  removals: readonly Removal[],
  nowMs: number,
): Promise<void> {
  const counts = taskParts.flatMap((part) =>
    (['number', 'age', 'size'] as const).flatMap((why) => {
      const count = removals.filter((one) => one.part === part && one.why === why).length;
      return count === 0 ? [] : [`${countedNoun(count, nouns[part])} (${settings[why]})`];
    }),
  );
  if (counts.length === 0) return;
  const words = `Removed from the history at ${new Date(nowMs).toISOString()}: ${counts.join(', ')}.`;
  await writeJsonFileAtomically(join(statePath, 'history.json'), { words }, { durable: false });
}

/** What the history lost last, in one sentence; undefined for nothing. Throws STATE_UNUSABLE. */
export async function historyWords(statePath: string): Promise<string | undefined> {
  const file = await readJsonFile(join(statePath, 'history.json'), noteSchema);
  return file.state === 'ok' ? file.value.words : undefined;
}
