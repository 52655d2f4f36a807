import { BridgeError } from '../../base/errors.js';
import { printedVersion, recognised, type Installation } from '../../claude/installation.js';
import type { TaskSpec } from '../../tasks/task-spec.js';

export interface ProgramParts {
  readonly spec: TaskSpec;
  /** As found by its name. */
  readonly installation: Installation;
  readonly env: Readonly<Record<string, string>>;
  /** Where versions are cached. */
  readonly cacheFile: string;
}

export interface RecognisedProgram extends Installation {
  /** Printed by the program just now, never cached; undefined when it was not needed. */
  readonly version?: string;
}

/**
 * The program of a task on this machine. One that is not called `claude` is run with `--version`. For a promise that Claude Code alone
 * can keep, so is one that is called `claude`, before each start. Throws TASK_START_FAILED when another program cannot do what the task needs.
 */
export async function recogniseProgram(parts: ProgramParts): Promise<RecognisedProgram> {
  const program = await recognise(parts);
  const { purpose, settings } = parts.spec;
  if (purpose !== 'ask' || program.isClaude) return program;
  throw new BridgeError(
    'TASK_START_FAILED',
    `A question was to be asked, but '${settings.claude_command.join(' ')}' (setting claude_command) is not Claude Code: another program has no conversations to continue.`,
    'Start a task instead, or set claude_command (MCP_CLAUDE_COMMAND) to Claude Code.',
  );
}

async function recognise({ spec, installation, env, cacheFile }: ProgramParts): Promise<RecognisedProgram> {
  const hasRules = (spec.settings.rules ?? []).length > 0;
  if (spec.permission_mode === 'auto' && !hasRules)
    return installation.isClaude ? installation : recognised(installation, env, cacheFile);
  const version = await printedVersion(installation.command, env);
  const { permission_mode: mode } = spec;
  if ((mode === 'cautious' || mode === 'claude') && version === undefined) {
    const command = spec.settings.claude_command.join(' ');
    throw new BridgeError(
      'TASK_START_FAILED',
      `Mode ${mode} was asked for, but '${command}' (setting claude_command) is not Claude Code: with --version it does not print a version of Claude Code, and another program does not ask before it acts.`,
      'Use permission_mode "auto" if the program may do what it likes, or set claude_command (MCP_CLAUDE_COMMAND) to Claude Code.',
    );
  }
  return { ...installation, isClaude: version !== undefined, ...(version !== undefined && { version }) };
}
