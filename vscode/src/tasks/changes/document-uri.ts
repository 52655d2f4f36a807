// Pure.
import { TASK_ID_PATTERN } from '../../../../src/base/id-patterns.js';

/** Of documents whose text the board gives. */
export const TASK_SCHEME = 'claude-task';

export type Side = 'old' | 'new';

/** One side of a file that a task changed. */
export interface TaskDocument {
  readonly taskId: string;
  /** Its name now, relative to the top of the repository. */
  readonly file: string;
  readonly side: Side;
  /** Its name on this side: a renamed file had another one before. */
  readonly name: string;
}

/** The parts of a URI that matter here, not encoded. */
export interface UriParts {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

/** The path is what the editor shows, and knows the language by: the name in a folder that ends with `/`. */
export function uriOf({ taskId, file, side, name }: TaskDocument, folder = '/'): UriParts {
  return {
    scheme: TASK_SCHEME,
    path: `${folder}${name}`,
    query: new URLSearchParams({ task: taskId, side, file, name }).toString(),
  };
}

/** Undefined for a URI that `uriOf` does not make. */
export function documentOf({ scheme, query }: UriParts): TaskDocument | undefined {
  const given = new URLSearchParams(query);
  const taskId = given.get('task') ?? '';
  const [side, file, name] = [given.get('side'), given.get('file'), given.get('name')];
  if (scheme !== TASK_SCHEME || !TASK_ID_PATTERN.test(taskId) || !file || !name) return undefined;
  return side === 'old' || side === 'new' ? { taskId, file, side, name } : undefined;
}
