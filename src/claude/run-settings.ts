// Pure.
import type { CliPermissions } from '../approvals/cli-permissions.js';
import type { CliSandbox } from './sandbox/cli-sandbox.js';

export interface RunSettings {
  readonly permissions?: CliPermissions | undefined;
  readonly sandbox?: CliSandbox | undefined;
  readonly projectSleeps?: boolean | undefined;
}

/** What each run of the CLI gets, whichever driver starts it. */
export function runSettings({
  permissions,
  sandbox,
  projectSleeps = false,
}: RunSettings): Record<string, unknown> {
  return {
    // A project or a user may have switched hooks off.
    disableAllHooks: false,
    // No task outlives its turns, and a job that is stored in a project would run in a later one. The screen reader mode, which a person's
    // settings may switch on, draws neither dialogs nor an input box that can be read (2.1.330, 2.1.332).
    env: { CLAUDE_CODE_DISABLE_CRON: '1', CLAUDE_AX_SCREEN_READER: '0' },
    // Without this, shell lines in skills and commands run without a question.
    ...(projectSleeps ? { disableSkillShellExecution: true } : {}),
    ...(permissions === undefined ? {} : { permissions }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
}
