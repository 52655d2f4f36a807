// Pure: follows in which folders a command may run.
import { resolve } from 'node:path';
import type { ShellPart } from './shell-part.js';

/** With more possible folders, the result is unknown. */
const MAX_FOLDERS = 16;

/** Folders in which the next command may run, if the one before succeeded and if it failed; undefined when unknown. */
export interface Folders {
  readonly ifOk: readonly string[] | undefined;
  readonly ifFailed: readonly string[] | undefined;
}

/** Follows only `cd` with a literal folder. After any other command that may change the folder, it is unknown. */
export function foldersAfter(
  { words, assignments }: ShellPart,
  folders: readonly string[] | undefined,
): Folders {
  const [name, target, more] = words;
  const moves = ['cd', 'pushd', 'popd', 'eval', 'source', '.', 'builtin', 'command'];
  if (name === undefined || (name.kind === 'literal' && !moves.includes(name.value))) return same(folders);
  const isPlain =
    name.value === 'cd' &&
    assignments.length === 0 &&
    more === undefined &&
    target?.kind === 'literal' &&
    !target.hasTilde &&
    !target.value.startsWith('-') &&
    target.value !== '';
  if (!isPlain) return { ifOk: undefined, ifFailed: folders };
  return { ifOk: folders?.map((folder) => resolve(folder, target.value)), ifFailed: folders };
}

/** The folders did not change. */
export function same(folders: readonly string[] | undefined): Folders {
  return { ifOk: folders, ifFailed: folders };
}

/** Undefined when one of them is unknown or there are too many. */
export function union(
  one: readonly string[] | undefined,
  other: readonly string[] | undefined,
): readonly string[] | undefined {
  if (one === undefined || other === undefined) return undefined;
  const both = [...new Set([...one, ...other])];
  return both.length > MAX_FOLDERS ? undefined : both;
}
