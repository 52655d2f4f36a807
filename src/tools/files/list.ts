// Pure.
import { z } from 'zod';
import { defineTool } from '../define-tool.js';

const MIN_BYTES = 1_000;
/** An answer contains everything twice, as text and as data, and must stay below 1 MB. */
const MAX_LIST_BYTES = 400_000;
/** For `maxResultChars`: such an answer with what stands around its list. */
const MAX_LIST_CHARS = 450_000;
const MAX_LIST_DEPTH = 5;
const MAX_CONTEXT_LINES = 10;

/** Arguments of both listings of a folder. */
const listInput = {
  path: z.string().optional(),
  depth: z.int().min(1).max(MAX_LIST_DEPTH).optional(),
  cursor: z.string().optional(),
  max_bytes: z.int().min(MIN_BYTES).max(MAX_LIST_BYTES).optional(),
  ignored: z.boolean().optional().describe('Also hidden and ignored ones'),
};

/** How both report what is left out. */
const pageOutput = {
  note: z.string().optional(),
  more: z.int().optional(),
  cursor: z.string().optional(),
};

const entryOutput = z.object({
  name: z.string(),
  type: z.enum(['file', 'directory', 'symlink', 'other']),
  size: z.int().optional(),
  target: z.string().optional(),
  note: z.string().optional(),
});

export const listFiles = defineTool({
  name: 'list_files',
  title: 'List files',
  effect: 'read',
  description: 'List files and directories. What is hidden or ignored is left out, and named.',
  maxResultChars: MAX_LIST_CHARS,
  isExact: true,
  input: { ...listInput, names: z.boolean().optional().describe('Only names; folders end with /') },
  output: {
    path: z.string(),
    ...pageOutput,
    names: z.array(z.string()).optional(),
    entries: z.array(entryOutput).optional(),
  },
  handle: async ({ names: namesOnly, max_bytes: maxBytes, ...query }, services, { signal }) => {
    const explorer = await services.explorer();
    if (namesOnly === true) {
      const { path, names, entries, ...facts } = await explorer.names({ ...query, maxBytes }, signal);
      return { path, ...facts, names, entries };
    }
    const { path, entries, ...facts } = await explorer.list({ ...query, maxBytes }, signal);
    return { path, ...facts, entries };
  },
});

export const getFileTree = defineTool({
  name: 'get_file_tree',
  title: 'Get the file tree',
  effect: 'read',
  description: 'Draw a directory tree of what list_files lists.',
  maxResultChars: MAX_LIST_CHARS,
  input: listInput,
  output: { path: z.string(), ...pageOutput, tree: z.string() },
  handle: async ({ max_bytes: maxBytes, ...query }, { explorer }, { signal }) =>
    (await explorer()).tree({ ...query, maxBytes }, signal),
});

const matchOutput = z.object({
  path: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
  text: z.string().optional(),
  before: z.array(z.string()).optional(),
  after: z.array(z.string()).optional(),
});

export const searchFiles = defineTool({
  name: 'search_files',
  title: 'Search files',
  effect: 'read',
  description:
    'Find lines (with names: paths) that contain a text or match a ripgrep regex. Not in ignored, binary and large files.',
  maxResultChars: MAX_LIST_CHARS,
  isExact: true,
  input: {
    query: z.string(),
    path: listInput.path,
    regex: z.boolean().optional(),
    names: z.boolean().optional(),
    glob: z.string().optional().describe('e.g. *.{ts,js}'),
    context: z.int().min(0).max(MAX_CONTEXT_LINES).optional(),
    cursor: listInput.cursor,
    max_bytes: listInput.max_bytes,
    ignored: z.boolean().optional().describe('Also ignored ones'),
  },
  output: {
    path: z.string(),
    note: z.string().optional(),
    cursor: z.string().optional(),
    matches: z.array(matchOutput),
  },
  handle: async ({ max_bytes: maxBytes, ...query }, { explorer }, { signal }) => {
    const { path, matches, ...facts } = await (await explorer()).search({ ...query, maxBytes }, signal);
    return { path, ...facts, matches };
  },
});
