import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** Of a file, in hexadecimal. */
export function sha256(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}
