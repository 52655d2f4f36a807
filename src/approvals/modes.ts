// Pure.
/** `claude`: Claude Code’s own auto mode decides, where it has one. */
export const approvalModes = ['auto', 'cautious', 'sandboxed', 'claude'] as const;
export type ApprovalMode = (typeof approvalModes)[number];
export type ApprovalKind = 'permission' | 'question' | 'plan' | 'trust' | 'prompt';

/** A rule of the settings, in Claude Code's syntax. */
export interface RuleRow {
  readonly rule: string;
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly reason: string;
}
