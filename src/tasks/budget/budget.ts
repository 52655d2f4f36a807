// Pure: a limit on what a task may use, and what it has used.
import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import type { SessionUsage } from '../../claude/session.js';
import { countOf } from '../../base/text.js';

/** Below a cent no model answers anything. */
const MIN_USD = 0.01;
/** Begins the reason of a task that was ended at a limit. */
export const BUDGET = 'budget';
const WARN_SHARE = 0.8;

/** US dollars, as Claude Code reports them, and tokens of all kinds, as the API counts them. */
export const budgetSchema = z.object({
  max_cost_usd: z.number().min(MIN_USD).nullish(),
  max_tokens: z.int().min(1).nullish(),
});
export type Budget = Readonly<z.infer<typeof budgetSchema>>;

export interface Spent {
  /** Null where Claude Code does not report it. */
  readonly costUsd: number | null;
  readonly tokens: number;
}

export const NOTHING_SPENT: Spent = { costUsd: 0, tokens: 0 };

export function spentOf({ models, costUsd }: SessionUsage): Spent {
  const tokens = Object.values(models).map(
    ({ input, output, cacheRead, cacheWrite }) => input + output + cacheRead + cacheWrite,
  );
  return { costUsd, tokens: tokens.reduce((sum, count) => sum + count, 0) };
}

/** The cost is null if one of them is not known. */
export function addedSpent(one: Spent, other: Spent): Spent {
  const costUsd = one.costUsd === null || other.costUsd === null ? null : one.costUsd + other.costUsd;
  return { costUsd, tokens: one.tokens + other.tokens };
}

/** The limits of a call, else those of the setting `task_budget`. Throws INVALID_ARGUMENTS for a call that asks for more than that. */
export function budgetFor(asked: Budget, setting: Budget): Budget {
  const limit = (name: keyof Budget): number | null => {
    const [wanted, most] = [asked[name], setting[name]];
    if (wanted == null || most == null || wanted <= most) return wanted ?? most ?? null;
    throw new BridgeError(
      'INVALID_ARGUMENTS',
      `${name} is ${wanted}, and the setting task_budget allows ${most} for one task.`,
      'Give at most that, or leave it out. Only the user raises task_budget.',
    );
  };
  return { max_cost_usd: limit('max_cost_usd'), max_tokens: limit('max_tokens') };
}

export function isLimited({ max_cost_usd, max_tokens }: Budget): boolean {
  return max_cost_usd != null || max_tokens != null;
}

/** What a task has used, and of which limits, in words such as "$1.60 of $2.00, 41,200 tokens"; empty where nothing is known. */
export function usedWords(record: {
  readonly cost_usd?: number | undefined;
  readonly tokens?: number | undefined;
  readonly budget?: Budget | undefined;
}): string {
  const { cost_usd, tokens, budget = {} } = record;
  const words = [
    cost_usd !== undefined && costWords(cost_usd, budget.max_cost_usd),
    tokens !== undefined && tokenWords(tokens, budget.max_tokens),
  ];
  return words.filter((word) => word !== false).join(', ');
}

/** The limit that is used up, or used by four fifths. */
export function budgetState(
  { costUsd, tokens }: Spent,
  { max_cost_usd: usd, max_tokens: most }: Budget,
): { state: 'used' | 'low'; words: string } | undefined {
  const shares = [
    usd != null && costUsd !== null && { share: costUsd / usd, words: costWords(costUsd, usd) },
    most != null && { share: tokens / most, words: tokenWords(tokens, most) },
  ].filter((one) => one !== false);
  const [first] = shares.toSorted((one, other) => other.share - one.share);
  if (first === undefined || first.share < WARN_SHARE) return undefined;
  return { state: first.share >= 1 ? 'used' : 'low', words: first.words };
}

function costWords(usd: number, most: number | null | undefined): string {
  return most == null ? dollars(usd) : `${dollars(usd)} of ${dollars(most)}`;
}

function tokenWords(tokens: number, most: number | null | undefined): string {
  return `${countOf(tokens)}${most == null ? '' : ` of ${countOf(most)}`} tokens`;
}

/** `$0.42`; small sums have more digits. */
function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 0.1 && usd > 0 ? 4 : 2)}`;
}
