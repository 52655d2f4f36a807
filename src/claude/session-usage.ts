// Pure: adds up the usage of a session that ran in several programs.
import type { SessionUsage } from './session.js';
import { addedUsage, type ModelUsage } from './usage-totals.js';

/** The sum per model; the cost is null if it is unknown for one of them. */
export function addedSessionUsage(one: SessionUsage, other: SessionUsage): SessionUsage {
  const models: Record<string, ModelUsage> = { ...one.models };
  for (const [model, usage] of Object.entries(other.models)) {
    const before = models[model];
    models[model] = before === undefined ? usage : addedUsage(before, usage);
  }
  const costUsd = one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd;
  return { models, costUsd };
}
