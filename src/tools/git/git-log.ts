import { z } from 'zod';
import { fittingCount } from '../../mcp/output-budget.js';
import { defineTool } from '../define-tool.js';
import { locatedOutput, repositoryPathInput } from './git-fields.js';

const DEFAULT_COUNT = 20;
const MAX_COUNT = 200;

export const gitLog = defineTool({
  name: 'git_log',
  title: 'Git log',
  toolset: 'git',
  effect: 'read',
  description: 'Commits, newest first.',
  input: {
    path: repositoryPathInput,
    max_count: z.int().min(1).max(MAX_COUNT).optional().describe(`Default: ${DEFAULT_COUNT}`),
    revision: z.string().optional().describe('Default: HEAD; a..b for a range'),
    cursor: z.string().optional(),
  },
  output: {
    ...locatedOutput,
    cursor: z.string().optional(),
    commits: z.array(
      z.object({ commit: z.string(), author: z.string(), date: z.string(), subject: z.string() }),
    ),
  },
  handle: async ({ path, max_count, revision, cursor }, services, { signal }) => {
    const git = await services.git();
    const history = await git.log(
      { path, signal },
      {
        maxCount: max_count ?? DEFAULT_COUNT,
        ...(revision !== undefined && { revision }),
        ...(cursor !== undefined && { cursor }),
      },
    );
    const count = fittingCount(history.commits);
    return {
      path: history.path,
      repository: history.repository,
      commits: history.commits.slice(0, count),
      cursor: history.cursorAfter(count),
    };
  },
});
