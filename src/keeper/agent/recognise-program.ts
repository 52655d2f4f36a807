import { BridgeError } from '../../base/errors.js';
import type { Installation } from '../../claude/installation.js';
import { printedVersion, recognised } from '../../claude/version-cache.js';
import type { TaskSpec } from '../../tasks/task-spec.js';

export interface ProgramParts {
  readonly spec: TaskSpec;
  /** As it was found by its name. */
  readonly installation: Installation;
  readonly env: Readonly<Record<string, string>>;
  /** Where versions are remembered. */
  readonly cacheFile: string;
}

export interface RecognisedProgram extends Installation {
  /** As the program printed it just now, where it had to be asked; no cached one. */
  readonly version?: string;
}

/**
 * The program of a task on this machine. One that is not called `claude` is asked for its version; where something is promised
 * that Claude Code alone can keep, one that is called so, too, each time. Throws TASK_START_FAILED where `cautious` cannot be kept.
 */
export async function recogniseProgram(parts: ProgramParts): Promise<RecognisedProgram> {
  const { spec, installation, env, cacheFile } = parts;
  const hasRules = (spec.settings.rules ?? []).length > 0;
  if (spec.permission_mode === 'auto' && !hasRules)
    return installation.isClaude ? installation : recognised(installation, env, cacheFile);
  const version = await printedVersion(installation.command, env);
  if (spec.permission_mode === 'cautious' && version === undefined) {
    const command = spec.settings.claude_command.join(' ');
    throw new BridgeError(
      'TASK_START_FAILED',
      `Mode cautious was asked for, but '${command}' (setting claude_command) is not Claude Code: with --version it does not print the version of Claude Code, and another program does not ask before it acts.`,
      'Use permission_mode "auto" if the program may do what it likes, or ask the user to set claude_command (MCP_CLAUDE_COMMAND) to Claude Code.',
    );
  }
  return { ...installation, isClaude: version !== undefined, ...(version !== undefined && { version }) };
}
