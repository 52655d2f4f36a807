import { basename } from 'node:path';
import { oneLine } from '../../../../src/base/text/text.js';
import { rowText } from '../../shown-text.js';
import type { BoardState } from '../../../../src/board/state.js';

const MAX_LABEL_CHARS = 120;
const MAX_ACTIVITY_CHARS = 200;

/** A task in a list to choose from. */
export interface TaskItem {
  readonly taskId: string;
  readonly label: string;
  readonly description: string;
  readonly detail: string;
}

/** The tasks that run, the newest first. */
export function runningTasks({ tasks }: BoardState): readonly TaskItem[] {
  return Object.values(tasks)
    .filter(({ is_final }) => !is_final)
    .sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
    .map(({ task_id, prompt_summary, project_path, status, activity }) => ({
      taskId: task_id,
      label: shown(prompt_summary, MAX_LABEL_CHARS),
      description: `${shown(basename(project_path), MAX_LABEL_CHARS)} · ${status}`,
      detail: shown(activity, MAX_ACTIVITY_CHARS),
    }));
}

function shown(text: string, maxChars: number): string {
  return oneLine(rowText(text), maxChars);
}
