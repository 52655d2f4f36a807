// Pure: where in a project a path lies, and whether what lies there runs by itself later.
import { isAbsolute, normalize, relative, sep } from 'node:path';

/** Folders whose files run, or grant something, at the next start of git, Claude Code, an editor or a shell. */
const LIVE_FOLDERS: ReadonlySet<string> = new Set([
  '.git',
  '.claude',
  '.vscode',
  '.idea',
  '.cursor',
  '.devcontainer',
  '.husky',
  '.githooks',
  '.ssh',
]);

/** Files of the same sort, wherever in the project they lie. */
const LIVE_FILES: ReadonlySet<string> = new Set([
  '.mcp.json',
  '.claude.json',
  '.gitconfig',
  '.gitmodules',
  '.gitattributes',
  '.envrc',
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.pnpmfile.cjs',
  '.pre-commit-config.yaml',
  'lefthook.yml',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.ripgreprc',
]);

/** Characters that some file systems ignore in names, so that `.g<ZWNJ>it` opens `.git` (CVE-2014-9390). */
const IGNORABLE = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** True for a resolved absolute path below `projectPath`; the project's own folder and unresolved paths are not. */
export function isInsideProject(projectPath: string, path: string): boolean {
  if (!isAbsolute(path) || normalize(path) !== path) return false;
  const way = relative(projectPath, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`);
}

/** True when writing the path can make something run, or be allowed, at the next start of a program. */
export function runsLater(projectPath: string, path: string): boolean {
  const names = relative(projectPath, path).split(sep).map(asFileSystemsSeeIt);
  return names.some((name) => LIVE_FOLDERS.has(name) || LIVE_FILES.has(name));
}

/** macOS ignores case, and some of its file systems more; a name is judged by the most forgiving of them. */
function asFileSystemsSeeIt(name: string): string {
  return name.normalize('NFKC').replace(IGNORABLE, '').toLowerCase();
}
