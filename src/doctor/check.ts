// Pure.
import { BridgeError } from '../base/errors.js';
import { shellWord } from '../base/text.js';
import type { Installation } from '../claude/installation.js';
import type { LoadedConfig } from '../config/load-config.js';

/** In the order in which they are shown. */
export const categories = ['system', 'settings', 'claude', 'state', 'clients', 'optional', 'task'] as const;
export type Category = (typeof categories)[number];

/**
 * `warning`: something works less well, or will fail in a situation that is named. `error`: tasks fail. `optional`: missing, and needed
 * only for what the summary names. `unchecked`: the summary says why.
 */
export const statuses = ['ok', 'optional', 'unchecked', 'warning', 'error'] as const;
export type Status = (typeof statuses)[number];

export interface Finding {
  readonly status: Status;
  /** One sentence. */
  readonly summary: string;
  readonly details: readonly string[];
  /** What a person does about it, in one sentence. */
  readonly remediation: string | null;
  /** The line of a shell that mends it; null where no single command does. */
  readonly command: string | null;
}

/** One thing that can be wrong. */
export interface Check {
  /** Unique, in kebab case. */
  readonly id: string;
  readonly category: Category;
  /** In milliseconds; the default is in run-checks.ts. */
  readonly limitMs?: number;
  /** Runs after all others, since it needs the whole machine. */
  readonly alone?: boolean;
  /** Changes nothing. What it throws is reported as the reason why it could not be checked. */
  readonly look: (context: DoctorContext) => Promise<Finding>;
  /** Mends what is safe to mend, for `--fix`; resolves with what was done, or undefined for nothing. */
  readonly fix?: (context: DoctorContext) => Promise<string | undefined>;
}

/** What a person starts the doctor with. */
export interface DoctorPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly cwd: string;
  readonly platform: NodeJS.Platform;
  readonly uid: number;
  /** The settings file that `--config` names. */
  readonly configPath?: string | undefined;
  /** The file of the running program. */
  readonly serverEntry: string;
  /** How a person runs this program. */
  readonly command: string;
  /** Files with which an administrator sets rules for Claude Code, and folders of such files. */
  readonly managedSettings: readonly string[];
  /** Versions of Claude Code that the tests of this release use, oldest first. */
  readonly testedClaude: readonly string[];
  readonly signal: AbortSignal;
}

/** What is composed elsewhere. */
export interface DoctorParts {
  /** Runs a small task with this program and a scripted model; resolves with whether it was done, and what was printed. */
  readonly tryTask: (
    claude: string,
    signal: AbortSignal,
  ) => Promise<{ readonly ok: boolean; readonly report: string }>;
  /** One line for each difference from what the bridge relies on. */
  readonly tryRules: (claude: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** Settings that cannot be used, and the defaults instead. */
export interface DoctorSettings extends LoadedConfig {
  readonly error?: BridgeError;
}

export type ProgramAnswer =
  | { readonly how: 'exited'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly how: 'missing' }
  /** It was ended, or took too long. */
  | { readonly how: 'failed'; readonly why: string };

/** Everything that checks look at; what several need is read once. */
export interface DoctorContext extends DoctorPlace, DoctorParts {
  readonly settings: () => Promise<DoctorSettings>;
  readonly statePath: () => Promise<string>;
  /** The program that tasks start. Throws CLAUDE_NOT_FOUND, CLAUDE_NOT_EXECUTABLE. */
  readonly installation: () => Promise<Installation>;
  /** The environment that a task's session gets. */
  readonly taskEnvironment: () => Promise<Readonly<Record<string, string>>>;
  /** Runs a program in the environment of a task. */
  readonly run: (program: string, args: readonly string[]) => Promise<ProgramAnswer>;
}

export function ok(summary: string, details: readonly string[] = []): Finding {
  return { status: 'ok', summary, details, remediation: null, command: null };
}

export function unchecked(why: string, remediation: string | null = null): Finding {
  return { ...ok(`not checked: ${why}`), status: 'unchecked', remediation };
}

/** Something works less well: what a person does about it, and the line of a shell that mends it. */
export function warning(
  summary: string,
  remediation: string,
  command: string | null = null,
  details: readonly string[] = [],
): Finding {
  return { status: 'warning', summary, details, remediation, command };
}

/** Tasks fail; else as `warning`. */
export function fault(...given: Parameters<typeof warning>): Finding {
  return { ...warning(...given), status: 'error' };
}

/** The error of the bridge with which an attempt fails; undefined for one that does not. */
export async function errorOf(attempt: () => unknown): Promise<BridgeError | undefined> {
  try {
    await attempt();
    return undefined;
  } catch (error) {
    if (error instanceof BridgeError) return error;
    throw error;
  }
}

/** The command that opens a file in a person's editor. */
export function editCommand(path: string, homeDir: string): string {
  return `\${EDITOR:-vi} ${shellWord(path, homeDir)}`;
}

/** The command that installs git, or starts Docker, on macOS or Linux. */
export function systemCommand(platform: NodeJS.Platform, what: 'git' | 'docker'): string {
  if (platform === 'darwin') return what === 'git' ? 'brew install git' : 'open -a Docker';
  return what === 'git' ? 'sudo apt-get install -y git' : 'sudo systemctl start docker';
}
