// Pure: the modes of permission, and which of them tasks in a project may have, by the settings of a person.
import { BridgeError } from '../base/errors.js';
import { isWithin } from '../projects/path-in-project.js';

/** `claude`: Claude Code’s own auto mode decides, where it has one. */
export const approvalModes = ['auto', 'cautious', 'sandboxed', 'claude'] as const;
export type ApprovalMode = (typeof approvalModes)[number];
export const approvalKinds = ['permission', 'question', 'plan', 'trust', 'prompt'] as const;

/** A rule of the settings, in Claude Code's syntax. */
export interface RuleRow {
  readonly rule: string;
  readonly verdict: 'allow' | 'deny' | 'ask';
  readonly reason: string;
}

/** What is set for one folder; left out, what is set for a folder around it counts, else what is set for all. */
interface FolderModes {
  readonly default_permission_mode?: ApprovalMode | undefined;
  readonly allowed_permission_modes?: readonly ApprovalMode[] | undefined;
}

export interface ModeSettings {
  readonly default_permission_mode: ApprovalMode;
  readonly allowed_permission_modes: readonly ApprovalMode[];
  /** By the real path of a folder: for all projects in it. */
  readonly projects: Readonly<Record<string, FolderModes>>;
  /** Where these settings stand, by their names: a file with its line, a variable or a flag. */
  readonly origins: { readonly [name: string]: string | undefined };
}

export interface ProjectModes {
  /** Of a task that is started without a mode. */
  readonly byDefault: ApprovalMode;
  /** A set: no mode is more than another. */
  readonly allowed: readonly ApprovalMode[];
  /** Where that is set, in words. */
  readonly allowedFrom: string;
}

/** As if nothing were set. */
export const ALL_MODES: ModeSettings = {
  default_permission_mode: 'auto',
  allowed_permission_modes: approvalModes,
  projects: {},
  origins: {},
};

/** The modes of a project by its real path: of each setting the one for the nearest folder. */
export function modesIn(project: string, settings: ModeSettings): ProjectModes {
  const { projects, origins } = settings;
  const around = Object.keys(projects)
    .filter((folder) => isWithin(project, folder))
    .sort((one, other) => other.length - one.length);
  const folderWith = (key: keyof FolderModes) => around.find((one) => projects[one]?.[key] !== undefined);
  const ofDefault = projects[folderWith('default_permission_mode') ?? ''];
  const folder = folderWith('allowed_permission_modes');
  const origin = origins[folder === undefined ? 'allowed_permission_modes' : 'projects'];
  const place = origin === undefined ? '' : ` (${origin})`;
  return {
    byDefault: ofDefault?.default_permission_mode ?? settings.default_permission_mode,
    allowed: projects[folder ?? '']?.allowed_permission_modes ?? settings.allowed_permission_modes,
    allowedFrom:
      folder === undefined
        ? `the setting allowed_permission_modes${place}`
        : `allowed_permission_modes of ${folder} in the setting projects${place}`,
  };
}

/** With those alone that another machine, which starts the task, allows, too. */
export function narrowed(modes: ProjectModes, others: readonly ApprovalMode[] | undefined): ProjectModes {
  if (others === undefined) return modes;
  const allowed = modes.allowed.filter((mode) => others.includes(mode));
  return {
    ...modes,
    allowed,
    allowedFrom: `${modes.allowedFrom} and the settings of the machine that starts it`,
  };
}

/** The mode of a task: the one that is asked for, else the project's default. Throws INVALID_ARGUMENTS for one that is not allowed there. */
export function modeFor(asked: ApprovalMode | undefined, project: string, modes: ProjectModes): ApprovalMode {
  const mode = asked ?? modes.byDefault;
  if (modes.allowed.includes(mode)) return mode;
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `permission_mode '${mode}' is not allowed in ${project}. Allowed: ${modes.allowed.join(', ')}, by ${modes.allowedFrom}.`,
    `Give one of these, or leave permission_mode out for '${modes.byDefault}'. Only the user changes that setting.`,
  );
}
