// Pure: the tasks of the board as rows of a list to choose from.
import { basename } from 'node:path';
import { ANY_TASK_ID_PATTERN, farIdOf } from '../../../src/base/ids.js';
import { oneLine } from '../../../src/base/text.js';
import type { BoardState } from '../../../src/board/state.js';
import { rowText } from '../shown-text.js';

const MAX_LABEL_CHARS = 120;
const MAX_DETAIL_CHARS = 200;

export interface TaskChoice {
  readonly label: string;
  readonly description: string;
  readonly detail: string;
  readonly value: string;
}

/** The id that a command was given; undefined when it was given anything else, as other extensions may. */
export function taskIdOf(given: unknown): string | undefined {
  return typeof given === 'string' && ANY_TASK_ID_PATTERN.test(given) ? given : undefined;
}

/** Tasks that run, or all of this machine that have begun: those whose files can be opened. First those whose tools named files that they changed, then the newest. */
export function taskChoices({ tasks }: BoardState, which: 'running' | 'started'): TaskChoice[] {
  return Object.values(tasks)
    .filter((task) =>
      which === 'running' ? !task.is_final : task.started_at !== null && farIdOf(task.task_id) === undefined,
    )
    .sort(
      (a, b) =>
        Number(b.files_changed > 0) - Number(a.files_changed > 0) || b.created_at.localeCompare(a.created_at),
    )
    .map((task) => ({
      label: shown(task.prompt_summary, MAX_LABEL_CHARS),
      description: `${shown(basename(task.project_path), MAX_LABEL_CHARS)} · ${task.status}${filesOf(task.files_changed)}`,
      detail: shown(task.activity, MAX_DETAIL_CHARS),
      value: task.task_id,
    }));
}

function filesOf(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ', 1 file' : `, ${count} files`;
}

function shown(text: string, maxChars: number): string {
  return oneLine(rowText(text), maxChars);
}
