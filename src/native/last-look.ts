import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

const OWNER_ONLY = 0o600;

/** Records that a client looked for sessions just now: it would also see one that it does not know yet. Never rejects. */
export async function recordLook(statePath: string): Promise<void> {
  // Without it a first request may be left to its person, no more.
  await writeFile(lookFile(statePath), '', { mode: OWNER_ONLY }).catch(() => undefined);
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
