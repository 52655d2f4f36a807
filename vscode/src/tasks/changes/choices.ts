// Pure.
import { basename } from 'node:path';
import { shownCharacters } from '../../../../src/base/text/unseen-characters.js';
import { messageText, rowText } from '../../shown-text.js';
import { fileFacts } from '../../../../src/board/parse-hunks.js';
import type { FileText } from '../../../../src/board/protocol.js';
import type { BoardState, DiffFile } from '../../../../src/board/state.js';

/** A row of a list to choose from. */
export interface Choice<T> {
  readonly label: string;
  readonly description: string;
  readonly detail?: string;
  readonly value: T;
}

/** Tasks whose changes can be shown: first those whose tools named files that they changed, newest first. */
export function taskChoices({ tasks }: BoardState): Choice<string>[] {
  return Object.values(tasks)
    .filter(({ started_at: startedAt }) => startedAt !== null)
    .sort(
      (a, b) =>
        Number(b.files_changed > 0) - Number(a.files_changed > 0) || b.created_at.localeCompare(a.created_at),
    )
    .map((task) => ({
      label: rowText(task.prompt_summary),
      description: `${task.status}${filesOf(task.files_changed)}`,
      detail: rowText(task.project_path),
      value: task.task_id,
    }));
}

export function fileChoices(files: readonly DiffFile[]): Choice<DiffFile>[] {
  return files.map((file) => ({
    label: rowText(file.path),
    description: rowText(fileFacts(file)),
    value: file,
  }));
}

/** The title of a diff editor. */
export function titleOf({ path, change }: DiffFile): string {
  const sides = { created: 'created', deleted: 'deleted', changed: 'before ↔ now', renamed: 'before ↔ now' };
  return shownCharacters(`${basename(path)} (Claude task: ${sides[change]})`);
}

function filesOf(count: number): string {
  if (count === 0) return '';
  return count === 1 ? ', 1 file' : `, ${count} files`;
}

/** Why a file has no text to compare. */
export function noTextWords(name: string, why: FileText['why']): string {
  const reason =
    why === 'too_large' ? 'has more than 2 MB' : why === 'missing' ? 'is not there' : 'is binary';
  return messageText(`There is no text to compare: ${name} ${reason}.`);
}
