import { describe } from 'vitest';
import { describeEnds } from './process-backend/ends.js';
import { describeInput } from './process-backend/input.js';
import { describeMany } from './process-backend/many.js';
import { describeOutput } from './process-backend/output.js';
import { describeSignals } from './process-backend/signals.js';
import { describeTerminal } from './process-backend/terminal.js';
import type { BackendFacts, OpenBackend } from './process-backend/under-test.js';

/** What every backend promises; `open` gives one to a test, and ends what that started when it is over. */
export function describeProcessBackend(name: string, facts: BackendFacts, open: OpenBackend): void {
  describe(`a process backend: ${name}`, { concurrent: facts.sideBySide }, () => {
    describeEnds(facts, open);
    describeInput(facts, open);
    describeOutput(facts, open);
    describeTerminal(facts, open);
    describeMany(facts, open);
    describeSignals(facts, open);
  });
}
