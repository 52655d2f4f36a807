// Pure: which files configure programs or instruct agents, by their names.
import { nameMatcher, type NameGlobs } from './name-list.js';
import { pathInProject } from './path-in-project.js';

/**
 * By convention a name that begins with a dot is configuration: of git, a shell, an editor, an agent, a CI job. Claude Code and other
 * agents read the files as instructions.
 */
export const liveNames: NameGlobs = { folders: ['.*'], files: ['CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md'] };

const isLiveName = nameMatcher(liveNames);
/** An agent's worktree is a project of its own, although it is inside the `.claude` folder of another. */
const WORKTREE = /^(.*?)\/?\.claude\/worktrees\/[^/]+\/(?=[^/])/;

/** True when the absolute path names a live file. For a path inside the project, the folders above the project do not count. */
export function runsLater(path: string, projectPath: string): boolean {
  return isLiveName(pathInProject(path, projectPath));
}

/** Like `runsLater`, but every folder of the path counts, save those of a worktree in which a project may be. */
export function isLive(path: string): boolean {
  const worktree = WORKTREE.exec(path);
  if (worktree === null) return isLiveName(path);
  return isLiveName(worktree[1] ?? '') || isLive(path.slice(worktree[0].length));
}
