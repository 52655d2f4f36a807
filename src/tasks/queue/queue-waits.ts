import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';

/** Whether tasks wait in the queue of a state directory: at the cost of reading one folder, before anything is loaded. */
export async function queueWaits(statePath: string): Promise<boolean> {
  try {
    return (await readdir(join(statePath, 'queue'))).length > 0;
  } catch (error) {
    // No task ever waited, or there is no state yet; its first use reports any other error of the folder.
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
