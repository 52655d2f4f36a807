import { isWithin } from '../projects/path-in-project.js';
import type { TaskRecord } from './task.js';

/** The changed files that are of the task's project; Claude Code keeps files of its own elsewhere, such as plans. */
export function projectFiles({ project_path, files_changed }: TaskRecord): string[] {
  return files_changed.filter((file) => isWithin(file, project_path));
}
