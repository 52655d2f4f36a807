// Pure: wishes → the arguments of the CLI. A value from elsewhere is passed as `--name=value`: it cannot become an option.
import type { CliPermissions } from '../approvals/cli-permissions.js';
import type { CliSandbox } from './sandbox/cli-sandbox.js';

/** The mode is always said: from 2.1.330 on the CLI's own default approves by itself. */
const PERMISSION_MODE = ['--permission-mode', 'default'];

/** An earlier session that a new one begins as a copy of. */
export interface ResumePoint {
  readonly sessionId: string;
  /** The last message that the copy holds: the UUID of an assistant's message. Null: all of them. */
  readonly messageId: string | null;
}

const ASK_PERMISSIONS = ['--permission-prompt-tool', 'stdio', ...PERMISSION_MODE];
const SKIP_PERMISSIONS = ['--dangerously-skip-permissions'];

export interface LaunchWishes {
  /** A UUID: the session is known before its first hook. */
  readonly sessionId: string;
  readonly model: string | null;
  /** Left out or null for a session that begins empty. */
  readonly resume?: ResumePoint | null | undefined;
  /** What the CLI is to ask about, besides what it asks about by itself. */
  readonly permissions?: CliPermissions | undefined;
  /** The sandbox for its commands; without one they run as the user. */
  readonly sandbox?: CliSandbox | undefined;
  /** The CLI asks for no permission at all. */
  readonly skipPermissions?: boolean | undefined;
}

/** Arguments of an interactive session; the prompt comes on stdin. */
export function interactiveArguments(wishes: LaunchWishes, settings: string): string[] {
  return [
    ...PERMISSION_MODE,
    `--session-id=${wishes.sessionId}`,
    '--settings',
    settings,
    ...sandboxArguments(wishes),
    ...resumeArguments(wishes),
    ...modelArguments(wishes),
  ];
}

/** Arguments of a print session with stream-json both ways; prompt and answers come on stdin. */
export function printArguments(wishes: LaunchWishes): string[] {
  return [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--verbose',
    ...(wishes.skipPermissions === true ? SKIP_PERMISSIONS : ASK_PERMISSIONS),
    `--session-id=${wishes.sessionId}`,
    ...settingsArguments(wishes),
    ...sandboxArguments(wishes),
    ...resumeArguments(wishes),
    ...modelArguments(wishes),
  ];
}

function settingsArguments({ permissions, sandbox, skipPermissions }: LaunchWishes): string[] {
  if (skipPermissions === true) return [];
  const settings = {
    ...(permissions === undefined || permissions.ask.length + permissions.deny.length === 0
      ? {}
      : { permissions }),
    ...(sandbox === undefined ? {} : { sandbox }),
  };
  return Object.keys(settings).length === 0 ? [] : ['--settings', JSON.stringify(settings)];
}

/** With these the CLI reads the project's CLAUDE.md and rules without its settings, see `sandboxArguments`. */
export const SANDBOX_ENVIRONMENT = { CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1' } as const;

/**
 * Settings, hooks and MCP servers of the project would run programs outside of the sandbox, or widen it: the CLI reads the
 * user's alone. The project's CLAUDE.md and rules are then read as those of an additional folder.
 * https://code.claude.com/docs/en/memory#load-memory-from-additional-directories
 */
function sandboxArguments({ sandbox }: LaunchWishes): string[] {
  return sandbox === undefined ? [] : ['--setting-sources', 'user', '--add-dir', '.'];
}

/**
 * Always a fork: the earlier session stays as it was, and can be continued from again. `--resume-session-at` is not in
 * the CLI's help; both pinned versions take it, and keep the ids of messages in the copy.
 */
function resumeArguments({ resume }: LaunchWishes): string[] {
  if (!resume) return [];
  const { sessionId, messageId } = resume;
  return [
    `--resume=${sessionId}`,
    '--fork-session',
    ...(messageId === null ? [] : [`--resume-session-at=${messageId}`]),
  ];
}

function modelArguments({ model }: LaunchWishes): string[] {
  return model === null ? [] : [`--model=${model}`];
}
