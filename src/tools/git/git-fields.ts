import { z } from 'zod';
import { someNames } from '../../base/text.js';
import { REPLY_BUDGET_BYTES, fittingCount } from '../../mcp/output-budget.js';

/** Fields that several git tools share. */
export const repositoryPathInput = z.string().optional().describe('Default: active project');

export const locatedOutput = {
  path: z.string(),
  repository: z.string(),
};

export const omittedFileSchema = z.object({ file: z.string(), bytes: z.int() });

/** For `maxResultChars`: a page of the largest size that a setting allows, with escapes. */
export const MAX_PATCH_CHARS = 450_000;

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

/** Sentences of an answer; the note is added wherever something is shown escaped. */
export function messageText(message: string, escaped: boolean): string {
  return escaped ? `${message} ${ESCAPED_NOTE}` : message;
}

/** The fields of a query for a page; without those that are not given. */
export function pageOf(
  cursor: string | undefined,
  maxBytes: number | undefined,
): { readonly cursor?: string; readonly maxBytes?: number } {
  return { ...(cursor !== undefined && { cursor }), ...(maxBytes !== undefined && { maxBytes }) };
}

/** As many of each list, in the order given, as fit together into what an answer holds. */
export function fittingLists<Lists extends Readonly<Record<string, readonly unknown[]>>>(
  lists: Lists,
): { [Name in keyof Lists]: Lists[Name][number][] };
export function fittingLists(lists: Readonly<Record<string, readonly unknown[]>>): Record<string, unknown[]> {
  let room = REPLY_BUDGET_BYTES;
  const fitting: Record<string, unknown[]> = {};
  for (const [name, items] of Object.entries(lists)) {
    const count = room <= 0 ? 0 : fittingCount(items, room);
    fitting[name] = items.slice(0, count);
    room -= Buffer.byteLength(JSON.stringify(fitting[name]));
  }
  return fitting;
}
