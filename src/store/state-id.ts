import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BridgeError, ignoreMissing, messageOf, systemCodeOf } from '../base/errors.js';
import { createSecret } from '../base/ids.js';

const STATE_ID = /^[0-9a-f]{32}$/;

/**
 * The id of a state directory, 32 hexadecimal digits: random, made when it is first asked for, in the file `state-id` of mode 0600. A
 * copy of the directory has the same one. Throws STATE_UNUSABLE.
 */
export async function stateId(statePath: string): Promise<string> {
  const path = join(statePath, 'state-id');
  const made = `${path}.${createSecret()}.tmp`;
  try {
    const there = await readFile(path, 'latin1').catch(ignoreMissing);
    if (there !== undefined && STATE_ID.test(there)) return there;
    if (there !== undefined) throw new Error('it holds something else; remove it');
    await writeFile(made, createSecret(), { mode: 0o600 });
    // Of several that make it at the same time, the first one counts.
    await link(made, path).catch((error: unknown) => {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    });
    return await readFile(path, 'latin1');
  } catch (error) {
    const hint = 'Check that the folder exists and belongs to you, and that its disk has space.';
    throw new BridgeError('STATE_UNUSABLE', `Cannot use ${path}: ${messageOf(error)}`, hint, {
      cause: error,
    });
  } finally {
    await rm(made, { force: true });
  }
}
