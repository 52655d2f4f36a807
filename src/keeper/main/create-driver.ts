import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cliPermissions } from '../../approvals/cli-permissions.js';
import { PromptAppearance } from '../../approvals/prompt-appearance.js';
import { ScreenPatterns } from '../../approvals/screen-patterns.js';
import type { Clock } from '../../base/clock.js';
import type { Installation } from '../../claude/installation.js';
import { InteractiveDriver } from '../../claude/interactive/interactive-driver.js';
import { claudeConfigDir } from '../../claude/transcript-files.js';
import { PrintDriver } from '../../claude/print/print-driver.js';
import { ProgramDriver } from '../../claude/program/program-driver.js';
import type { CliSandbox } from '../../claude/sandbox/cli-sandbox.js';
import type { SessionDriver, SessionGuard } from '../../claude/session.js';
import { ResumableDriver } from '../../claude/trouble/resumable-driver.js';
import type { Pid } from '../../os/pid.js';
import type { PtySpawner, SpawnPiped } from '../../pty/child.js';
import type { TaskSpec } from '../../tasks/task-spec.js';
import { usesOwnSettings } from '../agent/own-settings.js';
import type { SleepingSettings } from '../agent/project-settings.js';

export interface DriverParts {
  readonly spec: TaskSpec;
  readonly installation: Installation;
  readonly clock: Clock;
  readonly pty: PtySpawner;
  /** Starts a session on pipes; default: on this machine. */
  readonly spawnPiped?: SpawnPiped | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** For a task in mode sandboxed. */
  readonly sandbox: CliSandbox | undefined;
  readonly prompt: string;
  readonly promptFile: string;
  readonly sessionId: string;
  readonly killTree: (pid: Pid | undefined) => Promise<void>;
  readonly onBytes: (bytes: Uint8Array) => Promise<void> | undefined;
  readonly guard: SessionGuard;
  /** Words before the command of the session. */
  readonly before: readonly string[] | undefined;
  /** The project's own settings, where Claude Code does not read them. */
  readonly sleeping: SleepingSettings | undefined;
  /** The folder of a plugin with the project's skills, commands and agents as text. */
  readonly projectTexts: string | undefined;
}

/** The first message of a resumed session, beside the prompt. */
const GO_ON_FILE = 'go-on.md';
const OWNER_ONLY = 0o600;

/**
 * The driver of the task's spec; a program that is not Claude Code has a driver of its own. With `resume_after_limit`, a session
 * continues in a new program after its program has ended.
 */
export function createDriver(parts: DriverParts): SessionDriver {
  const first = oneProgram(parts);
  const { spec, installation } = parts;
  if (spec.settings.resume_after_limit !== true || !installation.isClaude) return first;
  return new ResumableDriver(first, async (sessionId, text) => {
    const promptFile = join(dirname(parts.promptFile), GO_ON_FILE);
    await writeFile(promptFile, text, { mode: OWNER_ONLY });
    const resumed = { ...spec, resume: { sessionId, messageId: null } };
    return oneProgram({ ...parts, spec: resumed, prompt: text, promptFile, sessionId: randomUUID() });
  });
}

function oneProgram(parts: DriverParts): SessionDriver {
  const { spec, installation, clock, pty, env, sandbox, promptFile, sessionId, killTree, onBytes } = parts;
  const permissions = cliPermissions({
    rows: spec.settings.rules ?? [],
    projectPath: spec.project_path,
    ownPlaces: spec.settings.own_places,
    projectRules: parts.sleeping?.rules,
  });
  const shared = {
    clock,
    command: [...(parts.before ?? []), ...installation.command],
    cwd: spec.project_path,
    env,
    killTree,
    permissions,
    projectSleeps: parts.sleeping !== undefined,
    ownSettings: usesOwnSettings(spec),
    projectTexts: parts.projectTexts,
    sandbox,
    guard: parts.guard,
  };
  if (spec.driver === 'print') {
    return new PrintDriver({
      ...shared,
      spawnPiped: parts.spawnPiped,
      prompt: parts.prompt,
      model: spec.model,
      sessionId,
      resume: spec.resume,
      claudeJudges: spec.permission_mode === 'claude',
      skipPermissions: spec.skip_permissions,
    });
  }
  const terminal = { ...shared, pty, shell: spec.settings.shell, promptFile, onBytes };
  if (!installation.isClaude) {
    return new ProgramDriver({
      ...terminal,
      patterns: new ScreenPatterns(spec.settings.auto_approve_patterns),
      appearance: new PromptAppearance('y'),
    });
  }
  return new InteractiveDriver({
    ...terminal,
    prompt: parts.prompt,
    sessionId,
    // What a container writes is never read here while it runs: its links would lead to files of this machine.
    configDir: spec.container === undefined ? claudeConfigDir(env) : undefined,
    resume: spec.resume,
    model: spec.model,
    decisionTimeoutSeconds: spec.settings.decision_timeout_seconds,
  });
}
