// Pure.
/** Every process of a task has the task's mark in this variable: a daemonized one can be found in no other way. */
export const MARK_VARIABLE = 'CLAUDE_CODE_BRIDGE_MARK';
