import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

const OWNER_ONLY = 0o600;
/** Neither a link is followed, nor a pipe waited for. */
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Records that a client looked for sessions just now: it would also see one that it does not know yet. Never rejects. */
export async function recordLook(statePath: string): Promise<void> {
  try {
    const file = await open(lookFile(statePath), FLAGS, OWNER_ONLY);
    const now = new Date();
    await file.utimes(now, now).finally(() => file.close());
  } catch {
    // Without it a first request may be left to its person, no more.
  }
}

/** When a client looked last, in milliseconds since the epoch; undefined when none did. */
export async function lastLookMs(statePath: string): Promise<number | undefined> {
  try {
    return (await stat(lookFile(statePath))).mtimeMs;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

function lookFile(statePath: string): string {
  return join(statePath, 'native-look');
}
