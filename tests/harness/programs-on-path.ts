import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Programs } from '../contracts/process-backend/under-test.js';

/** Programs of this machine that tests may use, by what they are. */
export function programsOnPath(): Programs {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = (...names: string[]): string | undefined =>
    names.find((name) => folders.some((folder) => folder !== '' && existsSync(join(folder, name))));
  const less = found('less');
  const vi = found('vim', 'vi');
  const top = found('top');
  const python = found('python3');
  return {
    node: process.execPath,
    ...(less !== undefined && { less }),
    ...(vi !== undefined && { vi }),
    ...(top !== undefined && { top }),
    ...(python !== undefined && { python }),
  };
}
