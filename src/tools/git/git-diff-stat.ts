import { z } from 'zod';
import { fittingCount } from '../../mcp/output-budget.js';
import { defineTool } from '../define-tool.js';
import { filterNote, locatedOutput, repositoryPathInput } from './git-fields.js';

export const fileStatSchema = z.object({
  file: z.string(),
  insertions: z.int(),
  deletions: z.int(),
  binary: z.boolean().optional(),
  from: z.string().optional(),
  escaped: z.boolean().optional(),
  old_mode: z.string().optional(),
  new_mode: z.string().optional(),
  link: z.string().optional(),
});

export const gitDiffStat = defineTool({
  name: 'git_diff_stat',
  title: 'Git diff statistics',
  toolset: 'git',
  effect: 'read',
  description: 'Lines added and removed per file: unstaged changes, or staged ones with `cached`.',
  input: {
    path: repositoryPathInput,
    cached: z.boolean().optional().describe('Staged changes only'),
  },
  output: {
    ...locatedOutput,
    summary: z.string(),
    message: z.string().optional(),
    omitted_files: z.int(),
    files: z.array(fileStatSchema),
  },
  handle: async ({ path, cached }, services, { signal }) => {
    const git = await services.git();
    const stat = await git.diffStat({ path, signal }, cached ?? false);
    const files = stat.files.slice(0, fittingCount(stat.files));
    return {
      path: stat.path,
      repository: stat.repository,
      files,
      summary: stat.summary,
      message: filterNote(stat.filtered)[0],
      omitted_files: stat.total.files - files.length,
    };
  },
});
