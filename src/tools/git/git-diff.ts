import { z } from 'zod';
import type { FileStat } from '../../git/diff/read-diff.js';
import type { GitService } from '../../git/git-service.js';
import { fittingCount, fittingPage, TEXT_PAGE_BYTES } from '../../mcp/answers.js';
import { made } from '../../mcp/tool.js';
import { defineTool } from '../define-tool.js';
import {
  filterNote,
  locatedOutput,
  MAX_PATCH_CHARS,
  messageText,
  MIN_PATCH_BYTES,
  repositoryPathInput,
  SUBMODULES_NOTE,
} from './git-fields.js';

const cachedInput = z.boolean().optional().describe('Staged changes only');

export const gitDiff = defineTool({
  name: 'git_diff',
  title: 'Git diff',
  effect: 'read',
  description: 'Patch of unstaged changes of tracked files, in pages.',
  maxResultChars: MAX_PATCH_CHARS,
  input: {
    path: repositoryPathInput,
    cached: cachedInput,
    base: z.string().optional().describe('Compare with this revision'),
    cursor: z.string().optional(),
  },
  output: {
    ...locatedOutput,
    truncated: z.boolean(),
    total_bytes: z.int(),
    files: z.int(),
    continues: z.string().optional(),
    omitted: z.array(made<Page['omitted'][number]>()),
    omitted_files: z.int(),
    cursor: z.string().optional(),
    message: z.string(),
    diff: z.string(),
  },
  handle: async ({ path, cursor, ...query }, services, { signal, pageBytes }) => {
    const git = await services.git();
    const view = (page: Page) => ({
      ...page,
      truncated: page.cursor !== undefined,
      message: messageText(
        [
          pageMessage(page),
          page.hasSubmodules && query.cached !== true && SUBMODULES_NOTE,
          ...filterNote(page.filtered),
        ],
        page.escaped,
      ),
      diff: page.text,
    });
    const page = await fittingPage<Page, number | undefined>({
      maxBytes: pageBytes,
      minBytes: MIN_PATCH_BYTES,
      // A smaller page is of the same diff.
      read: (maxBytes, larger) =>
        git.diff({ path, signal }, { ...query, cursor: larger?.here ?? cursor, maxBytes }),
      text: ({ text }) => text,
      whole: { bytes: pageBytes ?? TEXT_PAGE_BYTES, of: view },
    });
    return view(page);
  },
});

type Page = Awaited<ReturnType<GitService['diff']>>;

function pageMessage({ totalBytes, cursor, leftOutBytes, continues, text }: Page): string {
  if (totalBytes === 0) return 'No changes to show.';
  if (cursor !== undefined)
    return 'Diff truncated. Pass cursor for the next page, path for one file, or use git_diff_stat for a summary.';
  if (leftOutBytes > 0)
    return `The last page: the diff is too large, and its last ${leftOutBytes} bytes are left out. Pass path for one file.`;
  return continues === undefined && Buffer.byteLength(text) >= totalBytes
    ? 'Full diff output.'
    : 'The last page.';
}

export const gitDiffStat = defineTool({
  name: 'git_diff_stat',
  title: 'Git diff statistics',
  effect: 'read',
  description: 'Lines added and removed per file of unstaged changes.',
  input: { path: repositoryPathInput, cached: cachedInput },
  output: {
    ...locatedOutput,
    summary: z.string(),
    message: z.string().optional(),
    omitted_files: z.int(),
    files: z.array(made<FileStat>()),
  },
  handle: async ({ path, cached }, services, { signal }) => {
    const git = await services.git();
    const { files: all, total, filtered, ...stat } = await git.diffStat({ path, signal }, cached ?? false);
    const files = all.slice(0, fittingCount(all));
    const [message] = filterNote(filtered);
    return { ...stat, message, omittedFiles: total.files - files.length, files };
  },
});
