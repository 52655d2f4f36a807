import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Programs } from '../contracts/process-backend/under-test.js';

/** The file of a program of this machine. */
export function programFile(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** Programs of this machine that tests may use, by what they are. */
export function programsOnPath(): Programs {
  const vi = ['vim', 'vi'].find((name) => programFile(name) !== undefined);
  return { node: process.execPath, ...(vi !== undefined && { vi }) };
}
