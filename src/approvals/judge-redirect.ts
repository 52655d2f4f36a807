import { pathsOf } from './command-paths.js';
import type { Places } from './places.js';
import { isInsideProject, runsLater } from './project-paths.js';
import { isSecret } from './secret-paths.js';
import type { ShellPart, ShellRedirect } from './shell-part.js';

/** A redirection there loses or gives nothing. */
const HARMLESS_TARGETS: ReadonlySet<string> = new Set(['/dev/null', '/dev/stdout', '/dev/stderr']);

/** Why a redirection of the command is not to be allowed unseen; undefined when all stay in the project. */
export async function redirectFault(
  part: ShellPart,
  projectPath: string,
  places: Places,
): Promise<string | undefined> {
  for (const redirect of part.redirects) {
    const fault = await faultOf(redirect, part, projectPath, places);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

async function faultOf(
  { use, target }: ShellRedirect,
  part: ShellPart,
  projectPath: string,
  places: Places,
): Promise<string | undefined> {
  if (use === 'copy' || use === 'text') return undefined;
  if (target === undefined) return 'a redirection leads nowhere';
  if (isHarmless(target)) return undefined;
  const paths = target.kind === 'literal' ? await pathsOf(target, part.folders, places) : undefined;
  if (paths === undefined) return `it is not known where ${target.text} leads`;
  for (const path of paths) {
    if (!isInsideProject(projectPath, path)) {
      return `it ${use === 'read' ? 'reads' : 'writes'} ${target.text}, which lies outside of the project`;
    }
    if (isSecret(path)) return `${target.text} holds secrets, by its name`;
    if (use === 'write' && runsLater(projectPath, path))
      return `what it writes to ${target.text} can run later`;
  }
  return undefined;
}

/** True when a redirection makes or changes a file: an edit of the project is for the tools that show what they edit. */
export function writesFile(part: ShellPart): boolean {
  return part.redirects.some(({ use, target }) => use === 'write' && !isHarmless(target));
}

function isHarmless(target: ShellRedirect['target']): boolean {
  return target?.kind === 'literal' && HARMLESS_TARGETS.has(target.value);
}
