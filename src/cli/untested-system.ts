import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { PROJECT_ADDRESS } from '../base/project-address.js';

/** In the state directory: this system was named once. */
const MARKER = 'untested-system';
const OWNER_ONLY = 0o600;

export interface UntestedSystem {
  readonly platform: NodeJS.Platform;
  readonly arch: string;
  readonly stateDir: string;
}

/** What a person should know at the first start on a system without tests; undefined when it was said before. Throws what the disk throws. */
export async function untestedSystemOnce({
  platform,
  arch,
  stateDir,
}: UntestedSystem): Promise<string | undefined> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  try {
    await writeFile(join(stateDir, MARKER), `${platform} ${arch}\n`, { flag: 'wx', mode: OWNER_ONLY });
  } catch (error) {
    if (systemCodeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
  return `The tests of claude-code-bridge have been run on Linux (x64) only, not on ${platform} (${arch}). Please report what does not work: ${PROJECT_ADDRESS}/issues. This is said once.`;
}
