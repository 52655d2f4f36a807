import { stat } from 'node:fs/promises';
import { systemCodeOf } from '../base/errors.js';

/** Whether there is a file or folder that this user can reach. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return false;
  }
}
