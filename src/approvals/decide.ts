// Pure: finds the rule that answers a request.

export const approvalModes = ['auto', 'cautious', 'sandboxed'] as const;
export type ApprovalMode = (typeof approvalModes)[number];
export type ApprovalKind = 'permission' | 'question' | 'plan' | 'trust' | 'prompt';

/** A session's request, as rules see it. */
export interface ApprovalRequest {
  readonly mode: ApprovalMode;
  readonly kind: ApprovalKind;
  /** The tool's name, or the dialog's id. */
  readonly tool: string;
  /** Real path of the project. */
  readonly projectPath: string;
  /**
   * Every path that the request names, absolute, with links resolved (for a path that does not exist yet: those of its nearest
   * existing parent). A file pattern counts as the folder before its first wildcard. Empty when the request names no path.
   */
  readonly paths: readonly string[];
  /** The paths as written, made absolute, and other names in the project for the files in `paths`. */
  readonly named?: readonly string[] | undefined;
  /** Absolute paths of the bridge's own settings and state. */
  readonly ownPlaces?: readonly string[] | undefined;
  /** A sentence that says why a search may print secrets. */
  readonly searchedSecret?: string | undefined;
}

export interface Rule {
  readonly id: string;
  readonly modes: readonly ApprovalMode[];
  readonly kinds: readonly ApprovalKind[];
  readonly tool: RegExp;
  /** A further condition; without one the rule matches every such request. */
  readonly subject?: (request: ApprovalRequest) => boolean;
  readonly verdict: 'allow' | 'deny' | 'ask';
  /** The reason that a person reads. */
  readonly why: string | ((request: ApprovalRequest) => string);
}

export interface Verdict {
  readonly verdict: 'allow' | 'deny' | 'ask';
  /** Id of the rule that matched; `no-rule` when none did. */
  readonly rule: string;
  readonly reason: string;
}

const ORDER = ['deny', 'allow', 'ask'] as const;

/** Returns the verdict of the first matching rule: deny rules first, then allow, then ask. Without a match it asks. */
export function decide(request: ApprovalRequest, rules: readonly Rule[]): Verdict {
  const matching = rules.filter((rule) => matches(rule, request));
  for (const verdict of ORDER) {
    const rule = matching.find((candidate) => candidate.verdict === verdict);
    if (rule === undefined) continue;
    const { id, why } = rule;
    return { verdict, rule: id, reason: typeof why === 'string' ? why : why(request) };
  }
  return { verdict: 'ask', rule: 'no-rule', reason: `no rule of mode ${request.mode} covers this` };
}

function matches(rule: Rule, request: ApprovalRequest): boolean {
  return (
    rule.modes.includes(request.mode) &&
    rule.kinds.includes(request.kind) &&
    rule.tool.test(request.tool) &&
    (rule.subject === undefined || rule.subject(request))
  );
}
