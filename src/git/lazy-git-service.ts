import type { GitService } from './git-service.js';

type GitCalls = Pick<GitService, 'status' | 'diffStat' | 'diff' | 'log' | 'show' | 'init'>;

/** A git service that is built when the first call needs it. What `build` throws, each call throws. */
export function lazyGitService(build: () => Promise<GitService>): GitCalls {
  return {
    status: async (target) => (await build()).status(target),
    diffStat: async (target, cached) => (await build()).diffStat(target, cached),
    diff: async (target, query) => (await build()).diff(target, query),
    log: async (target, query) => (await build()).log(target, query),
    show: async (target, query) => (await build()).show(target, query),
    init: async (path, query, signal) => (await build()).init(path, query, signal),
  };
}
