import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../base/system-clock.js';
import type { Closers } from '../../base/closers.js';
import { findInstallation, type Installation } from '../../claude/installation.js';
import { readVersion } from '../../claude/version-cache.js';
import type { AgentContainer } from './agent-container.js';
import { commandShell } from './command-shell.js';
import { recogniseProgram, type RecognisedProgram } from './recognise-program.js';
import type { TaskPlan } from '../main/task-plan.js';
import { taskSandbox, type TaskSandbox } from './task-sandbox.js';

/** The program of a task, and where it runs. */
export interface TaskAgent {
  readonly installation: Installation;
  /** Undefined for a program on this machine. */
  readonly container: AgentContainer | undefined;
  readonly sandboxed: TaskSandbox | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly version: () => Promise<string | undefined>;
}

/** Throws CLAUDE_NOT_FOUND, SANDBOX_UNAVAILABLE, TASK_START_FAILED. `closers` closes container and sandbox. */
export async function findAgent(plan: TaskPlan, closers: Closers): Promise<TaskAgent> {
  const { spec, stateDir, childEnv, homeDir } = plan;
  const container = await openContainer(plan, closers);
  const versions = join(stateDir.path, 'claude-versions.json');
  const installation: RecognisedProgram = container?.installation ?? (await onThisMachine(plan, versions));
  const version = async () =>
    installation.version ??
    (container === undefined ? readVersion(installation.command, childEnv, versions) : container.version());
  const sandboxed = await taskSandbox({
    spec,
    installation,
    version,
    env: childEnv,
    homeDir,
    stateDir,
    // Not in the state directory, since commands in a sandbox cannot write there.
    tempDir: join(tmpdir(), `claude-code-bridge-${spec.task_id}`),
  });
  if (sandboxed !== undefined) closers.add('the sandbox', () => sandboxed.end());
  const hasShell = container === undefined && installation.isClaude;
  const shellFolder = join(stateDir.taskDir(spec.task_id), 'shell');
  const shellEnv = hasShell
    ? await commandShell(shellFolder, childEnv, spec.settings.pass_environment, {
        masks: sandboxed?.gitMasks,
        isForeign: spec.driver === 'background',
      })
    : {};
  const env = { ...(container?.env ?? childEnv), ...sandboxed?.env, ...shellEnv };
  return { installation, container, sandboxed, env, version };
}

async function onThisMachine(
  { spec, env, childEnv, homeDir }: TaskPlan,
  versions: string,
): Promise<RecognisedProgram> {
  const installation = await findInstallation(spec.settings.claude_command, {
    path: env['PATH'] ?? '',
    homeDir,
  });
  return recogniseProgram({ spec, installation, env: childEnv, cacheFile: versions });
}

/** Undefined for a task without a container, which loads no code for one. */
async function openContainer(plan: TaskPlan, closers: Closers): Promise<AgentContainer | undefined> {
  const { spec, stateDir, mark, childEnv, homeDir, logger } = plan;
  if (spec.container === undefined) return undefined;
  const { openAgentContainer } = await import('./agent-container.js');
  const { container } = spec;
  const parts = { spec, container, stateDir, mark, env: childEnv, homeDir, clock: systemClock, logger };
  return closers.owns('the container', await openAgentContainer(parts));
}
