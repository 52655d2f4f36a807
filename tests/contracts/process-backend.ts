import { describe } from 'vitest';
import { describeEnds } from './process-backend/ends.js';
import { describeInput } from './process-backend/input.js';
import { describeMany } from './process-backend/many.js';
import { describeOutput } from './process-backend/output.js';
import { describeSignals } from './process-backend/signals.js';
import { describeTerminal } from './process-backend/terminal.js';
import type { BackendFacts, BackendUnderTest } from './process-backend/under-test.js';

/** What every backend promises; `open` makes one for a test and disposes it when the test is over. */
export function describeProcessBackend(
  name: string,
  facts: BackendFacts,
  open: () => Promise<BackendUnderTest>,
): void {
  describe(`a process backend: ${name}`, () => {
    describeEnds(facts, open);
    describeInput(facts, open);
    describeOutput(facts, open);
    describeTerminal(facts, open);
    describeMany(facts, open);
    describeSignals(facts, open);
  });
}
