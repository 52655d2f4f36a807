import { z } from 'zod';
import { fittingCount, textFits } from '../../mcp/output-budget.js';
import { defineTool } from '../define-tool.js';
import type { GitTools } from '../services.js';
import { fileStatSchema } from './git-diff-stat.js';
import { locatedOutput, messageText, repositoryPathInput } from './git-fields.js';

/** The list of files may take a part of the answer; most of it is for the patch. */
const FILES_BYTES = 8_192;
const MIN_PAGE_BYTES = 1_024;

export const gitShow = defineTool({
  name: 'git_show',
  title: 'Git show',
  toolset: 'git',
  effect: 'read',
  description: 'A commit: message, files, patch against its first parent.',
  input: { revision: z.string(), path: repositoryPathInput },
  output: {
    ...locatedOutput,
    commit: z.string(),
    parents: z.array(z.string()),
    author: z.string(),
    date: z.string(),
    commit_message: z.string(),
    files: z.array(fileStatSchema),
    summary: z.string(),
    truncated: z.boolean(),
    total_bytes: z.int(),
    message: z.string(),
    diff: z.string(),
  },
  handle: async ({ revision, path }, { git }, { signal }) => {
    const shown = await fittingCommit(git, { path, signal }, { revision });
    const { patch, stat } = shown;
    const truncated = patch.next !== undefined;
    return {
      path: shown.path,
      repository: shown.repository,
      commit: shown.commit,
      parents: [...shown.parents],
      author: shown.author,
      date: shown.date,
      commit_message: shown.message,
      files: stat.files.slice(0, fittingCount(stat.files, FILES_BYTES)),
      summary: stat.summary,
      truncated,
      total_bytes: patch.totalBytes,
      message: messageText(
        truncated ? 'Diff truncated. Give a file or folder as path for its part.' : 'Full diff output.',
        patch.escaped,
      ),
      diff: patch.text,
    };
  },
});

type Target = Parameters<GitTools['show']>[0];
type Query = Parameters<GitTools['show']>[1];

/** As for git_diff: text that grows when it is escaped is asked for again, shorter. */
async function fittingCommit(
  git: GitTools,
  target: Target,
  query: Query,
): Promise<Awaited<ReturnType<GitTools['show']>>> {
  const shown = await git.show(target, query);
  const bytes = Buffer.byteLength(shown.patch.text);
  if (textFits(shown.patch.text + shown.message) || bytes <= MIN_PAGE_BYTES) return shown;
  return fittingCommit(git, target, { ...query, maxBytes: Math.floor(bytes / 2) });
}
