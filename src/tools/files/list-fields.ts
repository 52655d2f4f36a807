import { z } from 'zod';
import { MAX_LIST_BYTES, MAX_LIST_DEPTH } from '../../files/list/list-limits.js';

const MIN_BYTES = 1_000;

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
