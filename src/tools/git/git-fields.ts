import { z } from 'zod';
import { someNames } from '../../base/text.js';

export const repositoryPathInput = z.string().optional();

export const locatedOutput = {
  path: z.string(),
  repository: z.string(),
};

/** For `maxResultChars`: a page of the largest size that a setting allows, with escapes. */
export const MAX_PATCH_CHARS = 450_000;
/** A page of a patch is not made smaller than this, however its text grows when it is escaped. */
export const MIN_PATCH_BYTES = 1_024;

const ESCAPED_NOTE = 'Bytes that are not valid UTF-8 are shown as \\xNN.';

export const SUBMODULES_NOTE =
  'Changed files in submodules are not shown; pass the folder of a submodule as path.';

/** What to say of files that git compares through a filter; empty when there are none. */
export function filterNote(filtered: readonly string[] = []): readonly string[] {
  if (filtered.length === 0) return [];
  return [
    `Not compared, since git does it through a filter (such as git-lfs) and the bridge runs none: ${someNames(filtered)}.`,
  ];
}

/** The sentences of an answer; the note is added wherever something is shown escaped. */
export function messageText(sentences: readonly (string | false)[], escaped: boolean): string {
  return [...sentences, escaped && ESCAPED_NOTE].filter((sentence) => sentence !== false).join(' ');
}
