// Pure.
/** Every process of a task has the task's mark in this variable: a daemonized one can be found in no other way. */
export const MARK_VARIABLE = 'CLAUDE_CODE_BRIDGE_MARK';
const CHECK = '.check';
/** The mark of the checks of a task: they can be ended without its agent, and end with it. */
export function checkMark(mark: string): string {
  return `${mark}${CHECK}`;
}
/** The mark of the task that a process belongs to. */
export function taskMark(mark: string): string {
  return mark.endsWith(CHECK) ? mark.slice(0, -CHECK.length) : mark;
}
/**
 * A named pipe that the first process of a task and what inherits its descriptors hold open. The kernel closes it with the last of
 * them, so also a process of another pid namespace, which sees no marks, can ask whether one is left.
 */
export const LIFE_VARIABLE = 'CLAUDE_CODE_BRIDGE_LIFE';
