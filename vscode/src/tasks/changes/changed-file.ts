// Pure: a file that a task changed, as the editor lists it and shows its two sides.
import { basename } from 'node:path';
import { TASK_ID_PATTERN } from '../../../../src/base/ids.js';
import { shownCharacters } from '../../../../src/base/text.js';
import { fileFacts } from '../../../../src/board/parse-hunks.js';
import type { FileText } from '../../../../src/board/protocol.js';
import type { DiffFile } from '../../../../src/board/state.js';
import { messageText, rowText } from '../../shown-text.js';

/** Of documents whose text the board gives. */
export const TASK_SCHEME = 'claude-task';

/** One side of a file that a task changed. */
export interface TaskDocument {
  readonly taskId: string;
  readonly side: 'old' | 'new';
  /** Its name on this side, relative to the top of the repository: a renamed file had another one before. */
  readonly name: string;
}

/** The parts of a URI that matter here, not encoded. */
export interface UriParts {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/**
 * The path is what the editor shows, and knows the language by: the name in a folder that ends with `/`. A new side has the time in
 * milliseconds at which it was opened: the editor may have an earlier text of it.
 */
export function uriOf({ taskId, side, name }: TaskDocument, openedMs: number, folder = '/'): UriParts {
  const opened = side === 'new' ? { opened: String(openedMs) } : undefined;
  return {
    scheme: TASK_SCHEME,
    path: `${folder}${name}`,
    query: new URLSearchParams({ task: taskId, side, name, ...opened }).toString(),
  };
}

/** Undefined for a URI that `uriOf` does not make. */
export function documentOf({ scheme, query }: UriParts): TaskDocument | undefined {
  const given = new URLSearchParams(query);
  const taskId = given.get('task') ?? '';
  const [side, name] = [given.get('side'), given.get('name')];
  if (scheme !== TASK_SCHEME || !TASK_ID_PATTERN.test(taskId) || !name) return undefined;
  return side === 'old' || side === 'new' ? { taskId, side, name } : undefined;
}

/** A row of a list to choose from. */
export interface Choice<T> {
  readonly label: string;
  readonly description: string;
  readonly value: T;
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

/** Why a file has no text to compare. */
export function noTextWords(name: string, why: FileText['why']): string {
  const reason =
    why === 'too_large' ? 'has more than 2 MB' : why === 'missing' ? 'is not there' : 'is binary';
  return messageText(`There is no text to compare: ${name} ${reason}.`);
}
