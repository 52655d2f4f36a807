// Pure.
import { z } from 'zod';
import type { ListedFile } from '../../files/list-page.js';
import type { FoundMatch } from '../../files/search/search-folder.js';
import { made } from '../../mcp/tool.js';
import { defineTool, within } from '../define-tool.js';

/** For `maxResultChars`: an answer of the largest `max_bytes` with what is around its list. */
const MAX_LIST_CHARS = 450_000;

/** Arguments of both listings of a folder. */
const listInput = {
  path: z.string().optional(),
  depth: within(1, 5).optional(),
  cursor: z.string().optional(),
  /** An answer contains everything twice, as text and as data, and must stay below 1 MB. */
  max_bytes: within(1_000, 400_000).optional(),
  ignored: z.boolean().optional().describe('Also hidden and ignored ones'),
};

/** How both report what is left out. */
const pageOutput = {
  note: z.string().optional(),
  more: z.int().optional(),
  cursor: z.string().optional(),
};

export const listFiles = defineTool({
  name: 'list_files',
  title: 'List files',
  effect: 'read',
  description: 'List files and directories. What is hidden or ignored is left out, and named.',
  maxResultChars: MAX_LIST_CHARS,
  input: {
    ...listInput,
    names: z.boolean().optional().describe('Only names; folders end with /'),
  },
  output: {
    path: z.string(),
    ...pageOutput,
    names: z.array(z.string()).optional(),
    entries: z.array(made<ListedFile>()).optional(),
  },
  handle: async ({ names: namesOnly, ...query }, { explorer }, { signal }) =>
    (await explorer())[namesOnly === true ? 'names' : 'list'](query, signal),
});

export const getFileTree = defineTool({
  name: 'get_file_tree',
  title: 'Get the file tree',
  effect: 'read',
  description: 'Draw a directory tree of what list_files lists.',
  maxResultChars: MAX_LIST_CHARS,
  input: listInput,
  output: { path: z.string(), ...pageOutput, tree: z.string() },
  handle: async (query, { explorer }, { signal }) => (await explorer()).tree(query, signal),
});

export const searchFiles = defineTool({
  name: 'search_files',
  title: 'Search files',
  effect: 'read',
  description:
    'Find lines (with names: paths) that contain a text or match a ripgrep regex. Not in ignored, binary and large files.',
  maxResultChars: MAX_LIST_CHARS,
  input: {
    query: z.string(),
    path: listInput.path,
    regex: z.boolean().optional(),
    names: z.boolean().optional(),
    glob: z.string().optional().describe('e.g. *.{ts,js}'),
    context: within(0, 10).optional(),
    cursor: listInput.cursor,
    max_bytes: listInput.max_bytes,
    ignored: z.boolean().optional().describe('Also ignored ones'),
  },
  output: {
    path: z.string(),
    note: z.string().optional(),
    cursor: z.string().optional(),
    matches: z.array(made<FoundMatch>()),
  },
  handle: async (query, { explorer }, { signal }) => (await explorer()).search(query, signal),
});
