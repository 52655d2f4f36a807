import { sleep, type Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import { endBackgroundIn, type BackgroundLeftover } from '../../claude/background/background-file.js';
import type { EndMarked } from '../../os/choose-processes.js';
import type { StateDir } from '../../store/state-dir.js';
import type { TaskRecord } from '../task.js';

export interface LeftoverParts {
  readonly stateDir: StateDir;
  readonly clock: Clock;
  readonly endMarked: EndMarked;
  readonly logger?: Logger;
}

/** A session of which the start was accepted just before its starter was ended appears within this time. */
const APPEARS_MS = 3_000;
/** Claude Code may be slow, or be replaced by a newer version at that moment. */
const ATTEMPTS = 3;
const INTERVAL_MS = 1_000;

/**
 * Ends what a task without a keeper left running, and resolves with the number of processes. First its session, if that runs in Claude
 * Code's background service, since it does not carry the mark. Rejects when the system does not list its processes.
 */
export async function endLeftovers(record: TaskRecord, parts: LeftoverParts): Promise<number> {
  const { driver, process_mark, keeper } = record;
  const { clock, endMarked } = parts;
  const inBackground = driver === 'background' ? await endInBackground(record, parts) : NOTHING;
  const marked = await endMarked(process_mark, keeper?.start_time ?? undefined);
  if (!inBackground.mayAppear) return inBackground.processes + marked;
  await sleep(clock, APPEARS_MS);
  return inBackground.processes + marked + (await endInBackground(record, parts)).processes;
}

const NOTHING: BackgroundLeftover = { processes: 0, mayAppear: false };

async function endInBackground(
  { task_id }: TaskRecord,
  { stateDir, clock, logger }: LeftoverParts,
): Promise<BackgroundLeftover> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await endBackgroundIn(stateDir.taskDir(task_id), clock);
    } catch (error) {
      if (attempt < ATTEMPTS) {
        await sleep(clock, INTERVAL_MS);
        continue;
      }
      logger?.error('a background session could not be ended', { task_id, error: messageOf(error) });
      // It may still run: it is looked for once more.
      return { processes: 0, mayAppear: true };
    }
  }
}
