// Pure.
import type { Installation } from '../claude/installation.js';
import type { BridgeError } from '../base/errors.js';
import type { LoadedConfig } from '../config/load-config.js';
import type { ProgramAnswer } from './run-quick.js';

/** What a person starts the doctor with. */
export interface DoctorPlace {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeDir: string;
  readonly cwd: string;
  readonly tmpDir: string;
  readonly platform: NodeJS.Platform;
  readonly uid: number;
  /** The settings file that `--config` names. */
  readonly configPath?: string | undefined;
  readonly nodeVersion: string;
  /** The range in `engines` of package.json. */
  readonly neededNode: string;
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

/** What the check of a whole task says. */
export interface TaskTrial {
  readonly ok: boolean;
  /** What was printed. */
  readonly report: string;
}

/** What is composed elsewhere. */
export interface DoctorParts {
  /** Runs a small task with this program and a scripted model. */
  readonly tryTask: (claude: string, signal: AbortSignal) => Promise<TaskTrial>;
  /** One line for each difference from what the bridge relies on. */
  readonly tryRules: (claude: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** Settings that cannot be used, and the defaults instead. */
export interface DoctorSettings extends LoadedConfig {
  readonly error?: BridgeError;
}

/** Everything that checks look at. */
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
