// Pure: adds up the usage of a session that ran in several programs.
import type { SessionUsage } from './session.js';
import { addedUsage, subtractedUsage, type ModelUsage } from './usage-totals.js';

/** What was used since `before`, which is a part of `now`. */
export function usageSince(before: SessionUsage, now: SessionUsage): SessionUsage {
  const models = Object.entries(now.models).map(([model, usage]) => {
    const earlier = before.models[model];
    return [model, earlier === undefined ? usage : subtractedUsage(usage, earlier)] as const;
  });
  const isKnown = now.costUsd !== null && before.costUsd !== null;
  return {
    models: Object.fromEntries(models),
    costUsd: isKnown ? Math.max(0, (now.costUsd ?? 0) - (before.costUsd ?? 0)) : null,
  };
}

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
