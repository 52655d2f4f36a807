// Pure.
import type { Decision, TaskRecord } from '../tasks/task.js';
import type { RuleProposal } from './protocol.js';

/** Proposes rules for an open decision, and writes them into the settings. */
export interface AlwaysRules {
  /** `rules`: other ones than the narrowest. Throws INVALID_ARGUMENTS where there are none, or for one that is not to be written. */
  propose(record: TaskRecord, decision: Decision, rules?: readonly string[]): Promise<RuleProposal>;
  /** Throws as `write` does for rules that are not to be written. */
  check(decision: Decision, rules: readonly string[], file: string): void;
  /** Throws INVALID_ARGUMENTS for another file than the proposal named, and as `propose`; CONFIG_ERROR for a broken file. */
  write(decision: Decision, rules: readonly string[], file: string): Promise<void>;
}
