// Pure: a task's id in the form of a UUID, as callers of DelegateTask know it. 80 of its bits are the task's; the rest is fixed.
const FILL = '0'.repeat(10);
/** `task_` and 20 hexadecimal digits, cut where a UUID of version 4 has its marks. */
const TASK_PARTS = /^task_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{3})([0-9a-f]{3})([0-9a-f]{2})$/;
const UUID_PARTS = new RegExp(
  `^([0-9a-f]{8})-([0-9a-f]{4})-4([0-9a-f]{3})-8([0-9a-f]{3})-([0-9a-f]{2})${FILL}$`,
);

export function uuidOfTask(taskId: string): string {
  return taskId.replace(TASK_PARTS, `$1-$2-4$3-8$4-$5${FILL}`);
}

/** The task's id, or undefined for a UUID that no task has. */
export function taskIdOfUuid(uuid: string): string | undefined {
  const match = UUID_PARTS.exec(uuid);
  return match === null ? undefined : `task_${match.slice(1).join('')}`;
}
