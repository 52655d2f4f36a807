import { lstatSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const OWNER_ONLY = 0o600;
const WORDS = 'The bridge sees no sessions that people started. `claude-code-bridge native on` ends this.\n';

/** Whether the bridge sees sessions that people started: a file in the state directory ends it, for every server at once. */
export function isNativeOn(statePath: string): boolean {
  return lstatSync(switchFile(statePath), { throwIfNoEntry: false }) === undefined;
}

/** Throws what the system says when the file cannot be written or removed. */
export async function switchNative(statePath: string, on: boolean): Promise<void> {
  if (on) await rm(switchFile(statePath), { force: true, recursive: true });
  else await writeFile(switchFile(statePath), WORDS, { mode: OWNER_ONLY });
}

function switchFile(statePath: string): string {
  return join(statePath, 'native-off');
}
