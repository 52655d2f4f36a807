import { findEnclosingMarks } from '../os/enclosing-marks.js';
import { insideTaskFault } from '../tasks/inside-task.js';

/** For commands that act on tasks. Throws INSIDE_TASK when this process runs inside one; `what` says what was asked. */
export async function requireOutsideTasks(
  env: Readonly<Record<string, string | undefined>>,
  what: string,
): Promise<void> {
  if ((await findEnclosingMarks(env)).length === 0) return;
  throw insideTaskFault(what, 'Run the command in a terminal of your own.');
}
