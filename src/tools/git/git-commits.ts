import { z } from 'zod';
import type { FileStat } from '../../git/diff/read-diff.js';
import type { GitService } from '../../git/git-service.js';
import { SHOWN_FILES_BYTES, type LogEntry } from '../../git/log.js';
import { fittingCount, fittingPage, TEXT_PAGE_BYTES } from '../../mcp/answers.js';
import { made } from '../../mcp/tool.js';
import { defineTool, within } from '../define-tool.js';
import {
  locatedOutput,
  MAX_PATCH_CHARS,
  messageText,
  MIN_PATCH_BYTES,
  repositoryPathInput,
} from './git-fields.js';

const DEFAULT_COUNT = 20;

export const gitLog = defineTool({
  name: 'git_log',
  title: 'Git log',
  effect: 'read',
  description: 'Commits, newest first.',
  input: {
    path: repositoryPathInput,
    max_count: within(1, 200).optional().describe(`Default: ${DEFAULT_COUNT}`),
    revision: z.string().optional().describe('Default: HEAD; a..b for a range'),
    cursor: z.string().optional(),
  },
  output: {
    ...locatedOutput,
    cursor: z.string().optional(),
    commits: z.array(made<LogEntry>()),
  },
  handle: async ({ path, maxCount = DEFAULT_COUNT, ...query }, services, { signal }) => {
    const git = await services.git();
    const { commits, cursorAfter, ...located } = await git.log({ path, signal }, { ...query, maxCount });
    const count = fittingCount(commits);
    return { ...located, cursor: cursorAfter(count), commits: commits.slice(0, count) };
  },
});

export const gitShow = defineTool({
  name: 'git_show',
  title: 'Git show',
  effect: 'read',
  description: 'A commit: message, files, patch against its first parent, in pages.',
  maxResultChars: MAX_PATCH_CHARS,
  input: { revision: z.string(), path: repositoryPathInput, cursor: z.string().optional() },
  output: {
    ...locatedOutput,
    commit: z.string(),
    parents: z.array(z.string()).optional(),
    author: z.string().optional(),
    date: z.string().optional(),
    commit_message: z.string().optional(),
    truncated: z.boolean(),
    total_bytes: z.int(),
    cursor: z.string().optional(),
    message: z.string(),
    summary: z.string().optional(),
    files: z.array(made<FileStat>()).optional(),
    diff: z.string(),
  },
  handle: async ({ revision, path, cursor }, services, { signal, pageBytes }) => {
    const git = await services.git();
    const shown = await fittingPage<Shown, number | undefined>({
      maxBytes: pageBytes,
      minBytes: MIN_PATCH_BYTES,
      read: async (maxBytes, larger) => {
        const page = await git.show({ path, signal }, { revision, cursor: larger?.here ?? cursor, maxBytes });
        // A page with a cursor has no facts.
        return { ...page, facts: larger?.facts ?? page.facts };
      },
      text: ({ patch }) => patch.text,
      whole: { bytes: pageBytes ?? TEXT_PAGE_BYTES, of: viewOf },
    });
    return viewOf(shown);
  },
});

type Shown = Awaited<ReturnType<GitService['show']>>;

function viewOf({ path, repository, commit, patch, facts, cursor }: Shown) {
  const whole = facts === undefined ? 'The last page.' : 'Full diff output.';
  const message =
    cursor === undefined ? whole : 'Diff truncated. Pass cursor for the next page, or path for one file.';
  return {
    path,
    repository,
    commit,
    ...(facts !== undefined && {
      ...facts,
      commitMessage: facts.message,
      files: facts.stat.files.slice(0, fittingCount(facts.stat.files, SHOWN_FILES_BYTES)),
      summary: facts.stat.summary,
    }),
    truncated: cursor !== undefined,
    totalBytes: patch.totalBytes,
    cursor,
    message: messageText([message], patch.escaped),
    diff: patch.text,
  };
}
