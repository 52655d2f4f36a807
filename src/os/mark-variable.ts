/** Every process of a task carries the task's secret in this variable: only by it is a daemonized one found again. */
export const MARK_VARIABLE = 'CLAUDE_CODE_BRIDGE_MARK';
