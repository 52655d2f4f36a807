/** Numbers of tokens, as the API counts them. */
export interface ModelUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The model that the CLI names in a message of its own. */
export const NO_MODEL = '<synthetic>';
/** More messages than a session has in a day. */
const MAX_MESSAGES = 200_000;

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
    for (const { model, usage } of this.#messages.values()) {
      const sum = totals.get(model);
      totals.set(model, sum === undefined ? usage : addedUsage(sum, usage));
    }
    return totals;
  }
}

/** Adds both, kind by kind. */
export function addedUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  return {
    input: one.input + other.input,
    output: one.output + other.output,
    cacheRead: one.cacheRead + other.cacheRead,
    cacheWrite: one.cacheWrite + other.cacheWrite,
  };
}

/** The first without the second, kind by kind. */
export function subtractedUsage(one: ModelUsage, other: ModelUsage): ModelUsage {
  return addedUsage(one, {
    input: -other.input,
    output: -other.output,
    cacheRead: -other.cacheRead,
    cacheWrite: -other.cacheWrite,
  });
}
