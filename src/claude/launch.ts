// Pure: options → the arguments of the CLI. Outside values are passed as `--name=value`, so that they cannot become an option.
import type { CliPermissions } from '../approvals/cli-permissions.js';
import type { CliSandbox } from './sandbox/cli-sandbox.js';

/** Always set, because from 2.1.330 on the CLI's own default approves requests automatically. */
const PERMISSION_MODE = ['--permission-mode', 'default'];
/** Where settings or the model allow none, the CLI starts in `default` without a word, and its hooks report that (2.1.330, 2.1.332). */
const OWN_AUTO_MODE = ['--permission-mode', 'auto'];

/** The earlier session of which a new one is a copy. */
export interface ResumePoint {
  readonly sessionId: string;
  /** The UUID of the last message to copy, which is an assistant's. Null copies all. */
  readonly messageId: string | null;
}

export interface LaunchOptions {
  /** A UUID: the session is known before its first hook. */
  readonly sessionId: string;
  readonly model: string | null;
  /** Missing or null for an empty session. */
  readonly resume?: ResumePoint | null | undefined;
  /** What the CLI shall ask about, in addition to its own rules. */
  readonly permissions?: CliPermissions | undefined;
  /** The sandbox for its commands; without one they run with the user's rights. */
  readonly sandbox?: CliSandbox | undefined;
  /** Nothing of the project's own configuration is used, but its instructions. */
  readonly projectSleeps?: boolean | undefined;
  /** A person trusts the project's own configuration as it is: its MCP servers are used without a dialog. */
  readonly isTrusted?: boolean | undefined;
  /** False: nothing of the person's own settings is used. */
  readonly ownSettings?: boolean | undefined;
  /** The folder of a plugin with the project's skills, commands and agents as text. */
  readonly projectTexts?: string | undefined;
  /** The CLI's own auto mode decides, where it has one; else it asks. With the print driver alone. */
  readonly claudeJudges?: boolean | undefined;
  /** The CLI never asks for permission. */
  readonly skipPermissions?: boolean | undefined;
}

/** The arguments of an interactive session, which reads its prompt from stdin. */
export function interactiveArguments(options: LaunchOptions, settings: string): string[] {
  return [...PERMISSION_MODE, ...sessionArguments(options, settings)];
}

/** The arguments of a print session, which reads stream-json (prompt and answers) from stdin and writes stream-json. */
export function printArguments(options: LaunchOptions): string[] {
  const stream = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'];
  if (options.skipPermissions === true)
    return [...stream, '--dangerously-skip-permissions', ...sessionArguments(options)];
  const mode = options.claudeJudges === true ? OWN_AUTO_MODE : PERMISSION_MODE;
  const settings = JSON.stringify(runSettings(options));
  return [...stream, '--permission-prompt-tool', 'stdio', ...mode, ...sessionArguments(options, settings)];
}

/**
 * A session always forks, so that the earlier one stays unchanged and can be continued again. `--resume-session-at` is not in the CLI's
 * help; both pinned versions accept it and keep the message ids in the copy.
 */
function sessionArguments(options: LaunchOptions, settings?: string): string[] {
  const { sessionId, resume, model } = options;
  return [
    `--session-id=${sessionId}`,
    ...(settings === undefined ? [] : ['--settings', settings]),
    ...sourceArguments(options),
    ...(resume == null ? [] : [`--resume=${resume.sessionId}`, '--fork-session']),
    ...(resume?.messageId == null ? [] : [`--resume-session-at=${resume.messageId}`]),
    ...(model === null ? [] : [`--model=${model}`]),
  ];
}

export type RunSettings = Partial<
  Pick<LaunchOptions, 'permissions' | 'sandbox' | 'projectSleeps' | 'isTrusted'>
>;

/** What each run of the CLI gets, whichever driver starts it. */
export function runSettings(settings: RunSettings): Record<string, unknown> {
  const { permissions, sandbox, projectSleeps = false, isTrusted = false } = settings;
  return {
    // A project or a user may have switched hooks off.
    disableAllHooks: false,
    // No task outlives its turns, and a job that is stored in a project would run in a later one. The screen reader mode, which a person's
    // settings may switch on, draws neither dialogs nor an input box that can be read (2.1.330, 2.1.332).
    env: { CLAUDE_CODE_DISABLE_CRON: '1', CLAUDE_AX_SCREEN_READER: '0' },
    // Without this, shell lines in skills and commands run without a question.
    ...(projectSleeps && { disableSkillShellExecution: true }),
    // Its own dialog would write the answer into the project, which then is not what was trusted.
    ...(isTrusted && { enableAllProjectMcpServers: true }),
    ...(permissions && { permissions }),
    ...(sandbox && { sandbox }),
  };
}

/** Makes the CLI read the project's CLAUDE.md and rules without its settings, see `sourceArguments`. */
export const OWN_SOURCES_ENVIRONMENT = { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1' } as const;

/** Without it, Claude Code reads the files that a text names after `@`, and no hook or rule that asks is asked (2.1.330). */
export const WITHOUT_MENTIONS = { CLAUDE_CODE_DISABLE_FILE_MENTIONS: '1' } as const;

/** Which instructions Claude Code does not read then (2.1.330). */
const NOT_READ =
  'CLAUDE.local.md, the CLAUDE.md of folders above and below the working folder, and files in .claude/rules with `paths` in their front matter, were not loaded. Read those that are about what you work on.';

/**
 * Settings, hooks and MCP servers of the project could run programs, and its own hooks answer before a person can (2.1.330), so the CLI
 * reads only the user's. It reads the project's CLAUDE.md and rules as those of an additional folder.
 * https://code.claude.com/docs/en/memory#load-memory-from-additional-directories
 */
function sourceArguments({ projectSleeps, ownSettings = true, projectTexts }: LaunchOptions): string[] {
  if (projectSleeps !== true) return ownSettings ? [] : ['--setting-sources', 'project,local'];
  const plugin = projectTexts === undefined ? [] : ['--plugin-dir', projectTexts];
  const sources = ['--setting-sources', ownSettings ? 'user' : ''];
  return [...sources, '--add-dir', '.', ...plugin, '--append-system-prompt', NOT_READ];
}
