import { z } from 'zod';
import { fittingCount } from '../../mcp/output-budget.js';
import { readFitting, withinPage } from '../../mcp/output-budget.js';
import { defineTool } from '../define-tool.js';
import { SHOWN_FILES_BYTES } from '../../git/log.js';
import type { GitService } from '../../git/git-service.js';
import { fileStatSchema } from './git-diff-stat.js';
import { locatedOutput, MAX_PATCH_CHARS, messageText, pageOf, repositoryPathInput } from './git-fields.js';

const MIN_PAGE_BYTES = 1_024;

export const gitShow = defineTool({
  name: 'git_show',
  title: 'Git show',
  toolset: 'git',
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
    files: z.array(fileStatSchema).optional(),
    diff: z.string(),
  },
  handle: async ({ revision, path, cursor }, services, { signal, pageBytes }) => {
    const git = await services.git();
    const read = async (maxBytes: number | undefined, larger: Shown | undefined): Promise<Shown> => {
      const query = { revision, ...pageOf(larger?.here ?? cursor, maxBytes) };
      const page = await git.show({ path, signal }, query);
      // A page with a cursor has no facts.
      return { ...page, facts: larger?.facts ?? page.facts };
    };
    const limits = { pageBytes, minBytes: MIN_PAGE_BYTES };
    const shown = await readFitting<Shown, number | undefined>(
      { ...limits, maxBytes: pageBytes },
      read,
      ({ patch: { text }, facts }) => text + (facts?.message ?? ''),
    );
    return viewOf(await withinPage(shown, limits, read, { of: viewOf, text: ({ patch: { text } }) => text }));
  },
});

type Shown = Awaited<ReturnType<GitService['show']>>;

function viewOf(shown: Shown) {
  const { patch, facts } = shown;
  return {
    path: shown.path,
    repository: shown.repository,
    commit: shown.commit,
    ...(facts !== undefined && {
      parents: [...facts.parents],
      author: facts.author,
      date: facts.date,
      commit_message: facts.message,
      files: facts.stat.files.slice(0, fittingCount(facts.stat.files, SHOWN_FILES_BYTES)),
      summary: facts.stat.summary,
    }),
    truncated: shown.cursor !== undefined,
    total_bytes: patch.totalBytes,
    cursor: shown.cursor,
    message: messageText(showMessage(shown), patch.escaped),
    diff: patch.text,
  };
}

function showMessage({ cursor, facts }: Shown): string {
  if (cursor !== undefined) return 'Diff truncated. Pass cursor for the next page, or path for one file.';
  return facts === undefined ? 'The last page.' : 'Full diff output.';
}
