// Pure: the settings of permission modes, checked and in words.
import { approvalModes, type ModeSettings, modesIn, type ProjectModes } from '../approvals/modes.js';
import type { Config, ConfigKey } from './schema.js';

/** Where each setting that is set stands: a file with its line, a variable or a flag. */
export type Origins = Readonly<Partial<Record<ConfigKey, string>>>;

/** What is set of modes, and where. */
export function modeSettings(config: Config, origins: Origins): ModeSettings {
  const { default_permission_mode, allowed_permission_modes, projects } = config;
  return { default_permission_mode, allowed_permission_modes, projects, origins };
}

/** One line for each place where the default is not allowed. */
export function modeErrors(settings: ModeSettings): readonly string[] {
  return places(settings).flatMap(({ folder, modes: { byDefault, allowed, allowedFrom } }) =>
    allowed.includes(byDefault)
      ? []
      : [
          `default_permission_mode${folder === undefined ? '' : ` for ${folder}`} is "${byDefault}", expected one of "${allowed.join('", "')}", by ${allowedFrom}`,
        ],
  );
}

/** What is set, in one line for a person or a model; undefined where all modes are allowed and `auto` is the default. */
export function modeWords(settings: ModeSettings): string | undefined {
  const all = places(settings);
  const isSet = ({ byDefault, allowed }: ProjectModes) =>
    byDefault !== 'auto' || approvalModes.some((mode) => !allowed.includes(mode));
  if (!all.some(({ modes }) => isSet(modes))) return undefined;
  const words = all.map(({ folder, modes: { byDefault, allowed } }) => {
    const where = folder === undefined ? '' : `in ${folder} `;
    return `${where}default ${byDefault}, allowed ${allowed.join(', ')}`;
  });
  return `permission_mode: ${words.join('; ')}.`;
}

/** For all projects first, then for each folder that says something else. */
function places(
  settings: ModeSettings,
): readonly { readonly folder: string | undefined; readonly modes: ProjectModes }[] {
  const folders = Object.entries(settings.projects).flatMap(([folder, set]) =>
    set.default_permission_mode === undefined && set.allowed_permission_modes === undefined ? [] : [folder],
  );
  const everywhere = modesIn('', { ...settings, projects: {} });
  return [
    { folder: undefined, modes: everywhere },
    ...folders.map((folder) => ({ folder, modes: modesIn(folder, settings) })),
  ];
}
