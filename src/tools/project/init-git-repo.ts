import { z } from 'zod';
import { defineTool } from '../define-tool.js';

export const initGitRepo = defineTool({
  name: 'init_git_repo',
  title: 'Initialize a git repository',
  toolset: 'project',
  effect: 'write',
  idempotent: true,
  description: 'Initialize a git repository.',
  input: {
    path: z.string().describe('Directory to initialize as git repo'),
    initial_branch: z.string().optional(),
    gitignore: z.boolean().optional().describe('Write a .gitignore of common patterns, if there is none'),
  },
  output: {
    path: z.string(),
    initialized: z.boolean(),
    branch: z.string().nullable(),
    parent_repository: z.string().optional(),
    gitignore: z.string().optional(),
    message: z.string(),
  },
  handle: async ({ path, initial_branch, gitignore }, services, { signal }) => {
    const git = await services.git();
    const made = await git.init(
      path,
      {
        ...(initial_branch !== undefined && { initialBranch: initial_branch }),
        ...(gitignore !== undefined && { gitignore }),
      },
      signal,
    );
    const parent =
      made.parentRepository === undefined
        ? ''
        : ` It lies within the working tree of the repository at '${made.parentRepository}'.`;
    return {
      path: made.path,
      initialized: made.initialized,
      branch: made.branch,
      parent_repository: made.parentRepository,
      gitignore: made.gitignore,
      message: `${made.initialized ? 'Git repository initialized.' : 'This is a git repository already; nothing was changed in it.'}${parent}`,
    };
  },
});
