import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cliPermissions } from '../../approvals/cli-permissions.js';
import { systemClock } from '../../base/system-clock.js';
import { InteractiveDriver } from '../../claude/interactive/interactive-driver.js';
import { claudeConfigDir } from '../../claude/transcripts.js';
import { PrintDriver } from '../../claude/print/print-driver.js';
import { ProgramDriver } from '../../claude/program/program-driver.js';
import type { SessionDriver, SessionGuard } from '../../claude/session.js';
import { ResumableDriver } from '../../claude/trouble/resumable-driver.js';
import type { Pid } from '../../os/pid.js';
import { HOOK_TEXT } from '../../processes/docker/container-texts.js';
import type { PtySpawner } from '../../pty/child.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import type { OpenTask } from './open-task.js';
import { usesOwnSettings } from '../agent/project-settings.js';

export interface DriverParts {
  readonly pty: PtySpawner;
  readonly killTree: (pid: Pid | undefined) => Promise<void>;
  readonly guard: SessionGuard;
}

/** What one program of a session begins with. */
interface Beginning {
  readonly spec: TaskSpec;
  readonly prompt: string;
  readonly promptFile: string;
}

/** The first message of a resumed session, beside the prompt. */
const GO_ON_FILE = 'go-on.md';
const OWNER_ONLY = 0o600;

/**
 * The driver of the task's spec; a program that is not Claude Code has a driver of its own. With `resume_after_limit`, a session
 * continues in a new program after its program has ended.
 */
export function createDriver(task: OpenTask, parts: DriverParts): SessionDriver {
  const { spec, prompt, stateDir, agent } = task;
  const first = oneProgram(task, parts, { spec, prompt, promptFile: stateDir.promptFile(spec.task_id) });
  if (spec.settings.resume_after_limit !== true || !agent.installation.isClaude) return first;
  return new ResumableDriver(first, async (sessionId, text) => {
    const promptFile = join(stateDir.taskDir(spec.task_id), GO_ON_FILE);
    await writeFile(promptFile, text, { mode: OWNER_ONLY });
    const resumed = { ...spec, resume: { sessionId, messageId: null } };
    return oneProgram(task, parts, { spec: resumed, prompt: text, promptFile });
  });
}

function oneProgram(
  { agent, store }: OpenTask,
  { pty, killTree, guard }: DriverParts,
  { spec, prompt, promptFile }: Beginning,
): SessionDriver {
  const { installation, container, sandboxed, sleeping, env } = agent;
  const sessionId = randomUUID();
  const permissions = cliPermissions({
    rows: spec.settings.rules ?? [],
    projectPath: spec.project_path,
    ownPlaces: spec.settings.own_places,
    projectRules: sleeping?.rules,
  });
  const shared = {
    clock: systemClock,
    command: [...(sandboxed?.before ?? []), ...installation.command],
    cwd: spec.project_path,
    env,
    killTree,
    permissions,
    projectSleeps: sleeping !== undefined,
    isTrusted: agent.trusted.length > 0,
    ownSettings: usesOwnSettings(spec),
    projectTexts: agent.projectTexts,
    sandbox: sandboxed?.sandbox,
    guard,
  };
  if (spec.driver === 'print') {
    return new PrintDriver({
      ...shared,
      spawnPiped: container?.terminals.spawnPiped,
      prompt,
      model: spec.model,
      sessionId,
      resume: spec.resume,
      claudeJudges: spec.permission_mode === 'claude',
      skipPermissions: spec.skip_permissions,
    });
  }
  const terminal = {
    ...shared,
    pty,
    shell: spec.settings.shell,
    promptFile,
    onBytes: (bytes: Uint8Array) => store.recording.output(bytes),
  };
  if (!installation.isClaude) {
    return new ProgramDriver({ ...terminal, patterns: spec.settings.auto_approve_patterns });
  }
  return new InteractiveDriver({
    ...terminal,
    prompt,
    sessionId,
    // What a container writes is never read here while it runs: its links would lead to files of this machine.
    configDir: spec.container === undefined ? claudeConfigDir(env) : undefined,
    statusFile: join(dirname(promptFile), `${sessionId}.status.json`),
    resume: spec.resume,
    model: spec.model,
    decisionTimeoutSeconds: spec.settings.decision_timeout_seconds,
    hookCommand: container === undefined ? undefined : HOOK_TEXT,
  });
}
