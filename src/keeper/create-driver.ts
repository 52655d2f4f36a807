import { cliPermissions } from '../approvals/cli-permissions.js';
import { PromptAppearance } from '../approvals/appearance.js';
import { ScreenPatterns } from '../approvals/screen-patterns.js';
import type { Clock } from '../base/clock.js';
import type { Installation } from '../claude/installation.js';
import { InteractiveDriver } from '../claude/interactive/interactive-driver.js';
import { PrintDriver } from '../claude/print/print-driver.js';
import { ProgramDriver } from '../claude/program/program-driver.js';
import type { SessionDriver } from '../claude/session.js';
import type { PtyManager } from '../pty/pty-manager.js';
import type { PtySession } from '../pty/pty-session.js';
import type { TaskSpec } from '../tasks/task-spec.js';

export interface DriverParts {
  readonly spec: TaskSpec;
  readonly installation: Installation;
  readonly clock: Clock;
  readonly pty: PtyManager;
  readonly env: Readonly<Record<string, string>>;
  readonly prompt: string;
  readonly promptFile: string;
  readonly sessionId: string;
  readonly killTree: (pid: number) => Promise<void>;
  readonly onBytes: (bytes: Buffer, session: PtySession) => void;
}

/** The driver that the task asked for; a program that is not Claude Code is driven by its screen. */
export function createDriver(parts: DriverParts): SessionDriver {
  const { spec, installation, clock, pty, env, promptFile, sessionId, killTree, onBytes } = parts;
  const permissions = cliPermissions(spec.settings.rules ?? [], spec.permission_mode, spec.project_path);
  const shared = { clock, command: installation.command, cwd: spec.project_path, env, killTree, permissions };
  if (spec.driver === 'print') {
    return new PrintDriver({
      ...shared,
      prompt: parts.prompt,
      model: spec.model,
      sessionId,
      resume: spec.resume,
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
    sessionId,
    resume: spec.resume,
    model: spec.model,
    decisionTimeoutSeconds: spec.settings.decision_timeout_seconds,
  });
}
