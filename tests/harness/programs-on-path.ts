import type { Programs } from '../contracts/process-backend/under-test.js';
import { onPath } from './need-table.js';

/** Programs of this machine that tests may use, by what they are. */
export function programsOnPath(): Programs {
  const vi = ['vim', 'vi'].find((name) => onPath(name) !== undefined);
  return { node: process.execPath, ...(vi !== undefined && { vi }) };
}
