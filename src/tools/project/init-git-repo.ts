import { z } from 'zod';
import { BridgeError } from '../../base/errors.js';
import { defineTool } from '../define-tool.js';
import { alikeNote } from './write-file.js';

export const initGitRepo = defineTool({
  name: 'init_git_repo',
  title: 'Initialize a git repository',
  toolset: 'project',
  effect: 'write',
  idempotent: true,
  description: 'Initialize a git repository.',
  input: {
    path: z.string(),
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
    const init = () =>
      git.init(
        path,
        {
          ...(initial_branch !== undefined && { initialBranch: initial_branch }),
          ...(gitignore !== undefined && { gitignore }),
        },
        signal,
      );
    let alike: string | undefined;
    const made = await init().catch(async (thrown: unknown) => {
      if (!(thrown instanceof BridgeError && thrown.code === 'PATH_NOT_FOUND')) throw thrown;
      ({ alike } = await (await services.files()).createDirectory(path));
      return init();
    });
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
      message: `${made.initialized ? 'Git repository initialized.' : 'Directory is already a git repository.'}${parent}${alikeNote(alike)}`,
    };
  },
});
