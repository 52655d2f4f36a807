import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the part of the heap that new objects are made in at the size it has: 1 MB when it is called first of all. V8 doubles it, up to
 * 32 MB, when much of what is new outlives a collection, as the code that is loaded does and fifty programs that are being started,
 * and gives it back only to a program that rests. V8 reads this factor each time it is about to grow; one that reads it no more goes
 * on as before.
 */
export function keepYoungHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}
