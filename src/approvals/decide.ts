// Pure: which rule answers a request.

export const approvalModes = ['auto', 'cautious', 'sandboxed'] as const;
export type ApprovalMode = (typeof approvalModes)[number];
export type ApprovalKind = 'permission' | 'question' | 'plan' | 'trust' | 'prompt';

/** What a session asks, as rules see it. */
export interface ApprovalRequest {
  readonly mode: ApprovalMode;
  readonly kind: ApprovalKind;
  /** The tool's name, or the dialog's id. */
  readonly tool: string;
  /** Real path of the project. */
  readonly projectPath: string;
  /**
   * Every path that the request names, absolute, links resolved (of a path that does not exist yet: those of its nearest
   * existing parent); of a file pattern the folder before its first wildcard. Empty when it names none.
   */
  readonly paths: readonly string[];
  /** The paths as they are written, absolute; and other names, in the project, of the files to which `paths` lead. */
  readonly named?: readonly string[] | undefined;
  /** Settings and state of the bridge itself, absolute. */
  readonly ownPlaces?: readonly string[] | undefined;
  /** Why a search may print secrets, in words. */
  readonly searchedSecret?: string | undefined;
}

export interface Rule {
  readonly id: string;
  readonly modes: readonly ApprovalMode[];
  readonly kinds: readonly ApprovalKind[];
  readonly tool: RegExp;
  /** A further test of what is asked; without one the rule holds for all of it. */
  readonly subject?: (request: ApprovalRequest) => boolean;
  readonly verdict: 'allow' | 'deny' | 'ask';
  /** In words; where they depend on the request, made from it. */
  readonly why: string | ((request: ApprovalRequest) => string);
}

export interface Verdict {
  readonly verdict: 'allow' | 'deny' | 'ask';
  /** Id of the rule that decided; `no-rule` when none did. */
  readonly rule: string;
  readonly reason: string;
}

const ORDER = ['deny', 'allow', 'ask'] as const;

/** The first matching rule of the strictest kind: deny before allow before ask. What no rule knows is asked. */
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
