import { z } from 'zod';

const MIN_BYTES = 1_000;
/** An answer contains everything twice, as text and as data, and must stay below 1 MB. */
export const MAX_LIST_BYTES = 400_000;
/** For `maxResultChars`: such an answer with what stands around its list. */
export const MAX_LIST_CHARS = 450_000;
const MAX_LIST_DEPTH = 5;

/** Arguments of both listings of a folder. */
export const listInput = {
  path: z.string().optional().describe('Default: active project'),
  depth: z.int().min(1).max(MAX_LIST_DEPTH).optional(),
  cursor: z.string().optional(),
  max_bytes: z.int().min(MIN_BYTES).max(MAX_LIST_BYTES).optional(),
  ignored: z.boolean().optional().describe('Also hidden and ignored ones'),
};

/** How both report what is left out. */
export const pageOutput = {
  note: z.string().optional(),
  more: z.int().optional(),
  cursor: z.string().optional(),
};
