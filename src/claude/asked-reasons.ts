// Pure.
type Input = Readonly<Record<string, unknown>>;

/** More than the calls of which a session waits at the same time. */
const MAX_KEPT = 200;

/** Why the bridge had Claude Code ask about a call: the request that follows does not say it. */
export interface AskedReasons {
  keep(tool: string, input: Input, reason: string): void;
  /** The reason for the same call, which is kept no longer. */
  take(tool: string, input: Input): string | undefined;
}

/** Empty at first. */
export function askedReasons(): AskedReasons {
  const reasons = new Map<string, string>();
  return {
    keep: (tool, input, reason) => {
      reasons.set(keyOf(tool, input), reason);
      const [oldest] = reasons.keys();
      if (reasons.size > MAX_KEPT && oldest !== undefined) reasons.delete(oldest);
    },
    take: (tool, input) => {
      const key = keyOf(tool, input);
      const reason = reasons.get(key);
      reasons.delete(key);
      return reason;
    },
  };
}

function keyOf(tool: string, input: Input): string {
  return JSON.stringify([tool, input]);
}
