import { lstatSync, type Stats } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';

/** What lies at `path` itself, at once; undefined for what is not there, or closed to us: what is in it cannot be read either. */
export function statsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (thrown) {
    if (systemCodeOf(thrown) !== undefined) return undefined;
    throw thrown;
  }
}
