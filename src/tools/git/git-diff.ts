import { z } from 'zod';
import { readFitting, withinPage } from '../../mcp/output-budget.js';
import { defineTool } from '../define-tool.js';
import type { GitService } from '../../git/git-service.js';
import {
  filterNote,
  locatedOutput,
  MAX_PATCH_CHARS,
  messageText,
  omittedFileSchema,
  pageOf,
  repositoryPathInput,
  SUBMODULES_NOTE,
} from './git-fields.js';

/** A page is not made smaller than this, however its text grows when it is escaped. */
const MIN_PAGE_BYTES = 1_024;

export const gitDiff = defineTool({
  name: 'git_diff',
  title: 'Git diff',
  toolset: 'git',
  effect: 'read',
  description: 'Patch of unstaged changes of tracked files, in pages.',
  maxResultChars: MAX_PATCH_CHARS,
  input: {
    path: repositoryPathInput,
    cached: z.boolean().optional().describe('Staged changes only'),
    base: z.string().optional().describe('Compare with this revision'),
    cursor: z.string().optional(),
  },
  output: {
    ...locatedOutput,
    truncated: z.boolean(),
    total_bytes: z.int(),
    files: z.int(),
    continues: z.string().optional(),
    omitted: z.array(omittedFileSchema),
    omitted_files: z.int(),
    cursor: z.string().optional(),
    message: z.string(),
    diff: z.string(),
  },
  handle: async ({ path, cached, base, cursor }, services, { signal, pageBytes }) => {
    const git = await services.git();
    const query = {
      ...(cached !== undefined && { cached }),
      ...(base !== undefined && { base }),
    };
    // A smaller page is of the same diff.
    const read = (maxBytes: number | undefined, larger: Page | undefined): Promise<Page> =>
      git.diff({ path, signal }, { ...query, ...pageOf(larger?.here ?? cursor, maxBytes) });
    const text = (page: Page): string => page.text;
    const view = (page: Page) => viewOf(page, cached !== true);
    const limits = { pageBytes, minBytes: MIN_PAGE_BYTES };
    const page = await readFitting<Page, number | undefined>({ ...limits, maxBytes: pageBytes }, read, text);
    return view(await withinPage(page, limits, read, { of: view, text }));
  },
});

type Page = Awaited<ReturnType<GitService['diff']>>;

function viewOf(page: Page, isUnstaged: boolean) {
  return {
    path: page.path,
    repository: page.repository,
    truncated: page.cursor !== undefined,
    total_bytes: page.totalBytes,
    files: page.files,
    continues: page.continues,
    omitted: [...page.omitted],
    omitted_files: page.omittedFiles,
    cursor: page.cursor,
    message: messageText(
      [
        diffMessage(page),
        ...(page.hasSubmodules && isUnstaged ? [SUBMODULES_NOTE] : []),
        ...filterNote(page.filtered),
      ].join(' '),
      page.escaped,
    ),
    diff: page.text,
  };
}

function diffMessage(page: Page): string {
  if (page.totalBytes === 0) return 'No changes to show.';
  if (page.cursor === undefined && page.leftOutBytes > 0)
    return `The last page: the diff is too large, and its last ${page.leftOutBytes} bytes are left out. Pass path for one file.`;
  if (page.cursor === undefined)
    return page.continues === undefined && Buffer.byteLength(page.text) >= page.totalBytes
      ? 'Full diff output.'
      : 'The last page.';
  return 'Diff truncated. Pass cursor for the next page, path for one file, or use git_diff_stat for a summary.';
}
