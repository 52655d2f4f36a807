import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import { fittingLists, locatedOutput, messageText, repositoryPathInput } from './git-fields.js';

const paths = z.array(z.string());

export const gitStatus = defineTool({
  name: 'git_status',
  title: 'Git status',
  toolset: 'git',
  effect: 'read',
  description: 'Branch and changed files of a repository. Names are relative to `repository`.',
  input: { path: repositoryPathInput },
  output: {
    ...locatedOutput,
    clean: z.boolean(),
    branch: z.string().nullable().describe('null: detached'),
    head: z.string().nullable().describe('null: no commit yet'),
    upstream: z.string().nullable(),
    ahead: z.int(),
    behind: z.int(),
    staged: paths,
    modified: paths,
    untracked: paths,
    deleted: paths,
    conflicted: paths,
    renamed: z.array(z.object({ from: z.string(), to: z.string(), copy: z.boolean().optional() })),
    counts: z.record(z.string(), z.int()),
    truncated: z.boolean(),
    message: z.string(),
  },
  handle: async ({ path }, services, { signal }) => {
    const git = await services.git();
    const status = await git.status({ path, signal });
    const { lists, counts, renamed } = status;
    const shown = fittingLists({
      conflicted: lists.conflicted,
      staged: lists.staged,
      modified: lists.modified,
      deleted: lists.deleted,
      renamed,
      untracked: lists.untracked,
    });
    const truncated = Object.entries(counts).some(
      ([list, count]) => count > (Object.entries(shown).find(([name]) => name === list)?.[1].length ?? 0),
    );
    return {
      path: status.path,
      repository: status.repository,
      clean: status.clean,
      branch: status.branch,
      head: status.head,
      upstream: status.upstream,
      ahead: status.ahead,
      behind: status.behind,
      ...shown,
      renamed: [...shown.renamed],
      staged: [...shown.staged],
      modified: [...shown.modified],
      untracked: [...shown.untracked],
      deleted: [...shown.deleted],
      conflicted: [...shown.conflicted],
      counts: { ...counts },
      truncated,
      message: messageText(statusMessage(status, truncated), status.escaped),
    };
  },
});

function statusMessage(
  status: {
    readonly clean: boolean;
    readonly upstream: string | null;
    readonly isUpstreamThere: boolean;
  },
  truncated: boolean,
): string {
  const sentences = [status.clean ? 'Nothing has changed.' : 'There are changes.'];
  if (status.upstream !== null && !status.isUpstreamThere)
    sentences.push('The upstream branch does not exist.');
  if (truncated)
    sentences.push('Not every name is listed; counts are complete. Pass a folder as path for more.');
  return sentences.join(' ');
}
