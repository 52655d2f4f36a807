import { join } from 'node:path';
import { BridgeError } from '../../base/errors.js';
import { createSecret } from '../../base/ids.js';
import {
  findInstallation,
  isTooOld,
  printedVersion,
  readVersion,
  recognised,
  tooOld,
  type Installation,
} from '../../claude/installation.js';
import { childEnvironment, loopbackPastProxy } from '../../pty/child-env.js';
import { delegatedEnvironment } from '../../tasks/delegation.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import type { KeeperProgram } from '../host/launch-keeper.js';
import type { TaskLaunch } from '../wire/launch-input.js';

/** As found by its name, then recognised. */
export type RecognisedProgram = NonNullable<TaskLaunch['program']>;

/**
 * What a keeper needs of the process that starts its task: the environment of the task's programs, and the program, unless a container has
 * it. Throws CLAUDE_NOT_FOUND, CLAUDE_NOT_EXECUTABLE, CLAUDE_TOO_OLD, and as `recogniseProgram`.
 */
export async function findForTask(
  spec: TaskSpec,
  { env: own, statePath }: Pick<KeeperProgram, 'env' | 'statePath'>,
): Promise<Pick<TaskLaunch, 'mark' | 'env' | 'program'>> {
  const mark = createSecret();
  const { claude_command: command, pass_environment: passEnvironment } = spec.settings;
  const extra = delegatedEnvironment(spec);
  const env = loopbackPastProxy(childEnvironment(own, { mark, extra, passEnvironment }));
  if (spec.container !== undefined) return { mark, env };
  const cacheFile = join(statePath, 'claude-versions.json');
  const where = { path: own['PATH'] ?? '', homeDir: own['HOME'] ?? '/' };
  const installation = await findInstallation(command, where);
  const program = await recogniseProgram({ spec, installation, env, cacheFile });
  if (!program.isClaude) return { mark, env, program };
  const version = program.version ?? (await readVersion(program.command, env, cacheFile));
  if (version !== undefined && isTooOld(version)) throw tooOld(version);
  return { mark, env, program: { ...program, ...(version !== undefined && { version }) } };
}

export interface ProgramParts {
  readonly spec: TaskSpec;
  /** As found by its name. */
  readonly installation: Installation;
  readonly env: Readonly<Record<string, string>>;
  /** Where versions are cached. */
  readonly cacheFile: string;
}

/**
 * The program of a task on this machine. One that is not called `claude` is run with `--version`. For a promise that Claude Code alone
 * can keep, so is one that is called `claude`, before each start: its version is never cached then. Throws TASK_START_FAILED when another
 * program cannot do what the task needs.
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

async function recognise(parts: ProgramParts): Promise<RecognisedProgram> {
  const { spec, env, cacheFile, installation } = parts;
  const command = [...installation.command];
  const hasRules = (spec.settings.rules ?? []).length > 0;
  if (spec.permission_mode === 'auto' && !hasRules) {
    const { isClaude } = installation.isClaude
      ? installation
      : await recognised(installation, env, cacheFile);
    return { command, isClaude };
  }
  const version = await printedVersion(command, env);
  const { permission_mode: mode } = spec;
  if ((mode === 'cautious' || mode === 'claude') && version === undefined) {
    throw new BridgeError(
      'TASK_START_FAILED',
      `Mode ${mode} was asked for, but '${spec.settings.claude_command.join(' ')}' (setting claude_command) is not Claude Code: with --version it does not print a version of Claude Code, and another program does not ask before it acts.`,
      'Use permission_mode "auto" if the program may do what it likes, or set claude_command (MCP_CLAUDE_COMMAND) to Claude Code.',
    );
  }
  return { command, isClaude: version !== undefined, ...(version !== undefined && { version }) };
}
