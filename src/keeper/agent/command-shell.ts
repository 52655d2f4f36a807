import { mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { SandboxPaths } from '../../approvals/sandbox-paths.js';
import { BridgeError } from '../../base/errors.js';
import { HOOK_TOKEN_VARIABLE } from '../../claude/hooks/hook-settings.js';
import { sessionKeys } from '../../pty/child-env.js';
import { findProgram } from '../../pty/find-program.js';

/** Claude Code runs its commands with this program if its path contains `bash` or `zsh` (2.1.197, 2.1.330). */
const SHELL_VARIABLE = 'CLAUDE_CODE_SHELL';
const SHELLS: ReadonlySet<string> = new Set(['bash', 'zsh']);
const OWNER_ONLY = 0o700;

/**
 * Writes a program that removes the session's keys from its environment and then becomes the shell. Resolves with the environment
 * by which Claude Code runs its commands with that program; it is empty when there is no shell that Claude Code could use. `folder` is
 * created, for the owner alone. `masks`: those of the sandbox, if commands run in one.
 */
export async function commandShell(
  folder: string,
  env: Readonly<Record<string, string>>,
  passEnvironment: readonly string[],
  masks?: GitMasks,
): Promise<Record<string, string>> {
  const shell = await shellOf(env);
  if (shell === undefined) return {};
  const names = [HOOK_TOKEN_VARIABLE, SHELL_VARIABLE, ...sessionKeys(env, passEnvironment)];
  const path = join(folder, basename(shell));
  await mkdir(folder, { recursive: true, mode: OWNER_ONLY });
  const maskLines = masks === undefined ? '' : gitMaskLines(masks);
  const text = `#!/bin/sh\nunset ${names.join(' ')}\n${maskLines}exec ${quoted(shell)} "$@"\n`;
  await writeFile(path, text, { mode: OWNER_ONLY });
  return { [SHELL_VARIABLE]: path };
}

/** The shell that Claude Code would choose: the user's own if it is one of the two, else zsh before bash. */
async function shellOf(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const own = [env[SHELL_VARIABLE], env['SHELL']].filter(
    (path) => path !== undefined && isAbsolute(path) && SHELLS.has(basename(path)),
  );
  const PATH = `${env['PATH'] ?? ''}:/bin:/usr/bin:/usr/local/bin:/opt/homebrew/bin`;
  for (const name of [...own, 'zsh', 'bash']) {
    const found = await findProgram(name ?? '', '/', { PATH }).catch(noneThere);
    if (found !== undefined) return found;
  }
  return undefined;
}

function noneThere(error: unknown): undefined {
  if (!(error instanceof BridgeError)) throw error;
}

export interface GitMasks {
  readonly projectPath: string;
  /** Paths that commands may not read; `?` stands for any character. */
  readonly denyRead: SandboxPaths['denyRead'];
}

/**
 * Where a sandbox prevents that a file is read or created, commands see a character device. Git would list it as untracked and fail
 * to add it. These lines of `sh` make git exclude the devices that exist when the command begins, besides what the user's own git settings
 * exclude. They may also run outside a sandbox: they read no file that the repository names. A real file is never excluded. A folder
 * `.claude` without a real file is excluded, since `git clean` would remove it, and so are the worktrees of tasks.
 */
export function gitMaskLines({ projectPath, denyRead }: GitMasks): string {
  const project = quoted(projectPath);
  const deeper = denyRead
    .filter((path) => path.startsWith(`${projectPath}/`) && dirname(path) !== projectPath)
    .map((path) => path.split('?').map(quoted).join('?'));
  const folders = [project, `${project}/.claude`, '"$here"', '"$here"/.claude'];
  const paths = [...folders.flatMap((folder) => [`${folder}/.[!.]*`, `${folder}/*`]), ...deeper];
  return `bridge_excludes=$(
here=$(pwd -P)
masked=$(
for path in ${paths.join(' ')}; do [ ! -c "$path" ] || [ -L "$path" ] || printf '%s\\n' "$path"; done
for path in ${project}/.claude "$here"/.claude; do
[ ! -d "$path" ] || [ -n "$(find "$path" ! -type c ! -type d -print -quit)" ] || printf '%s\\n' "$path"
done
for path in ${project}/.claude/worktrees "$here"/.claude/worktrees; do [ ! -d "$path" ] || printf '%s\\n' "$path"; done
)
[ -n "$masked" ] || exit 1
top=$(git rev-parse --show-toplevel) || top=${project}
own=$(cd / && git config --global --path --get core.excludesFile) || own=\${XDG_CONFIG_HOME:-$HOME/.config}/git/ignore
made=$(mktemp "$CLAUDE_CODE_TMPDIR/git-excludes-XXXXXX" || mktemp "$TMPDIR/git-excludes-XXXXXX") || exit 1
{
[ ! -f "$own" ] || cat "$own"
printf '\\n%s\\n' "$masked" | while IFS= read -r path; do
case $path in "$top"/*) printf '%s\\n' "\${path#"$top"}" ;; esac
done | sed 's/[][\\\\*?]/\\\\&/g'
} > "$made"
printf '%s' "$made"
) 2>/dev/null && case \${GIT_CONFIG_COUNT:-0} in
*[!0-9]*) ;;
*)
export "GIT_CONFIG_KEY_\${GIT_CONFIG_COUNT:-0}=core.excludesFile" "GIT_CONFIG_VALUE_\${GIT_CONFIG_COUNT:-0}=$bridge_excludes"
export GIT_CONFIG_COUNT=$((\${GIT_CONFIG_COUNT:-0} + 1))
;;
esac
`;
}

/** The text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
