import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

/** The path, or the nearest folder above it that exists. */
export async function nearestFolder(path: string): Promise<string> {
  try {
    if ((await stat(path)).isDirectory()) return path;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
  }
  const above = dirname(path);
  return above === path ? path : nearestFolder(above);
}
