// Pure: what sessions have used, in tokens and money.
/** Numbers of tokens, as the API counts them. */
export interface ModelUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** What a session has used; the cost is null if the CLI does not report it. */
export interface SessionUsage {
  readonly models: Readonly<Record<string, ModelUsage>>;
  readonly costUsd: number | null;
}

/** The model that the CLI names in a message of its own. */
export const NO_MODEL = '<synthetic>';
/** More messages than a session has in a day. */
const MAX_MESSAGES = 200_000;
const NOTHING: ModelUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** Sums tokens by model. A transcript has a message once for each of its blocks, but it counts once. */
export class UsageTotals {
  readonly #messages = new Map<string, { readonly model: string; readonly usage: ModelUsage }>();

  /** For a repeated message the larger count wins: the first was written while the message still grew. */
  add(messageId: string, model: string, usage: ModelUsage): void {
    if (model === NO_MODEL) return;
    const known = this.#messages.get(messageId);
    if (known === undefined && this.#messages.size >= MAX_MESSAGES) return;
    if (known === undefined || known.usage.output <= usage.output)
      this.#messages.set(messageId, { model, usage });
  }

  get byModel(): ReadonlyMap<string, ModelUsage> {
    const totals = new Map<string, ModelUsage>();
    for (const { model, usage } of this.#messages.values())
      totals.set(model, combined(totals.get(model), usage, 1));
    return totals;
  }
}

/** The sum per model; the cost is null if it is unknown for one of them. */
export function addedSessionUsage(one: SessionUsage, other: SessionUsage): SessionUsage {
  return combinedSessions(one, other, 1);
}

/** What was used since `before`, which is a part of `now`. */
export function usageSince(before: SessionUsage, now: SessionUsage): SessionUsage {
  return combinedSessions(now, before, -1);
}

function combinedSessions(one: SessionUsage, other: SessionUsage, sign: 1 | -1): SessionUsage {
  const models: Record<string, ModelUsage> = { ...one.models };
  for (const [model, usage] of Object.entries(other.models))
    models[model] = combined(models[model], usage, sign);
  const isKnown = one.costUsd !== null && other.costUsd !== null;
  return { models, costUsd: isKnown ? Math.max(0, one.costUsd + sign * other.costUsd) : null };
}

function combined(one: ModelUsage = NOTHING, other: ModelUsage, sign: 1 | -1): ModelUsage {
  return {
    input: one.input + sign * other.input,
    output: one.output + sign * other.output,
    cacheRead: one.cacheRead + sign * other.cacheRead,
    cacheWrite: one.cacheWrite + sign * other.cacheWrite,
  };
}
