import { describe, inject } from 'vitest';
import type { NeedName } from './need-table.js';

/** The suite where the machine has what it needs; else it is left out, and the run names that at its end. */
export function describeWith(need: NeedName, name: string, suite: () => void): void {
  describe.skipIf(inject('missing').includes(need))(name, suite);
}

declare module 'vitest' {
  export interface ProvidedContext {
    /** What this machine does not have. */
    missing: readonly NeedName[];
  }
}
