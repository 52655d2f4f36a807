import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { closest } from 'fastest-levenshtein';
import type { ModeSettings } from '../approvals/modes.js';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { countedNoun, oneLine } from '../base/text.js';
import { settingErrors, withHome, type FoundSetting } from './check-setting.js';
import { parseSettingsText } from './json-text.js';
import { modeErrors, modeSettings, type Origins } from './permission-modes.js';
import { defaultSettingsPath } from './places.js';
import { configKeys, configKeySchema, configSchema, type Config, type ConfigKey } from './schema.js';
import { findSettingsFile, type SettingsFileSearch } from './settings-file.js';
import { settingsOfEnvironment, settingsOfText } from './setting-sources.js';

const SHOWN_CHARS = 400;
/** Every call answers with them while they are not corrected. */
const SHOWN_ERRORS = 20;

/** A setting from the command line, in the format of its environment variable. */
interface ConfigOverride {
  readonly key: ConfigKey;
  /** How an error names it: `flag --toolsets`. */
  readonly source: string;
  readonly text: string;
}

export interface ConfigRequest extends SettingsFileSearch {
  readonly overrides?: readonly ConfigOverride[] | undefined;
  /** The names of all toolsets; left out, those in the settings are not checked. */
  readonly toolsets?: readonly string[] | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The settings file that was read. */
  readonly source: string | null;
  readonly origins: Origins;
  /** The settings file that was looked for when none was named. */
  readonly defaultSource: string;
  /** For stderr, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Settings from the command line, else the environment, else the file, else the defaults. Throws one CONFIG_ERROR whose message lists
 * the errors, one a line, of many the first ones; an error counts even if another source overrides the value.
 */
export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const warnings: string[] = [];
  const errors: string[] = [];
  const file = await findSettingsFile(request, errors, warnings);
  const found = [
    ...(file === undefined ? [] : settingsOfFile(file, errors)),
    ...settingsOfEnvironment(request.env, errors, warnings),
    ...(request.overrides ?? []).flatMap(({ key, source, text }) =>
      settingsOfText(key, text, source, errors),
    ),
  ];
  const values = new Map<ConfigKey, unknown>();
  for (const setting of found) {
    errors.push(...(await settingErrors(setting, request.homeDir, request.toolsets)));
    values.set(setting.key, withHome(setting.key, setting.value, request.homeDir));
  }
  if (errors.length > 0) throw unusable(errors);
  const parsed = configSchema.parse(Object.fromEntries(values));
  const config = { ...parsed, projects: await byRealPath(parsed.projects) };
  const origins: Origins = Object.fromEntries(found.map(({ key, origin }) => [key, origin]));
  const wrong = modeErrors(modeSettings(config, origins));
  if (wrong.length > 0) throw unusable(wrong);
  warnings.push(...(await rootWarnings(config.allowed_roots)));
  return {
    config,
    source: file?.path ?? null,
    origins,
    defaultSource: defaultSettingsPath(request.homeDir),
    warnings,
  };
}

/** What the settings say of modes at this moment; `settingsFile` left out: the file of the usual place. Throws as `loadConfig`. */
export async function modesNow(
  env: ConfigRequest['env'],
  settingsFile: string | undefined,
): Promise<ModeSettings> {
  const request = { env, cwd: '/', homeDir: env['HOME'] ?? '/', configPath: settingsFile };
  const { config, origins } = await loadConfig(request);
  return modeSettings(config, origins);
}

function unusable(errors: readonly string[]): BridgeError {
  const more = errors.length - SHOWN_ERRORS;
  const shown = [
    ...errors.slice(0, SHOWN_ERRORS),
    ...(more > 0 ? [`and ${countedNoun(more, 'more error')}`] : []),
  ];
  return new BridgeError(
    'CONFIG_ERROR',
    shown.join('\n'),
    'Correct the settings named above, then start again. The package’s docs/settings.md lists every setting.',
  );
}

/** A task knows its project by its real path, and so it finds what is set there. A folder that is missing keeps its name. */
async function byRealPath(projects: Config['projects']): Promise<Config['projects']> {
  const found: Config['projects'] = {};
  for (const [name, settings] of Object.entries(projects)) {
    const path = await realpath(name).catch(() => resolve(name));
    found[path] = { ...found[path], ...settings };
  }
  return found;
}

function settingsOfFile(
  file: { readonly path: string; readonly text: string },
  errors: string[],
): FoundSetting[] {
  const path = oneLine(file.path, SHOWN_CHARS);
  const parsed = parseSettingsText(file.text);
  if (parsed.kind === 'faults') {
    for (const { line, words } of parsed.faults) errors.push(`${path}:${line}: ${words}`);
    return [];
  }
  return parsed.entries.flatMap(({ key, value, line }) => {
    const origin = `${path}:${line}`;
    const known = configKeySchema.safeParse(key);
    if (known.success) return [{ key: known.data, value, origin }];
    const name = oneLine(JSON.stringify(key), SHOWN_CHARS);
    // To compare thousands of names takes seconds, and nobody would read it.
    const near = errors.length < SHOWN_ERRORS ? `; did you mean "${nearestKey(key)}"?` : '';
    errors.push(`${origin}: unknown key ${name}${near}`);
    return [];
  });
}

/** A key that begins with the name is what was meant: `default_timeout`. */
function nearestKey(name: string): string {
  const longer = configKeys.find((key) => name !== '' && key.startsWith(name));
  return longer ?? closest(name, [...configKeys]);
}

async function rootWarnings(roots: readonly string[]): Promise<string[]> {
  const warnings: string[] = [];
  for (const root of roots) {
    const fault = await folderFault(root);
    if (fault !== undefined) warnings.push(`allowed_roots: ${oneLine(root, SHOWN_CHARS)} ${fault.words}.`);
  }
  return warnings;
}

export interface FolderFault {
  readonly kind: 'missing' | 'unreadable' | 'other';
  /** What it is, after its name. */
  readonly words: string;
}

/** Why a path is no folder that can be read; undefined for one that can. */
export async function folderFault(path: string): Promise<FolderFault | undefined> {
  try {
    if ((await stat(path)).isDirectory()) return undefined;
    return { kind: 'other', words: 'is not a folder' };
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    if (code === 'ENOENT') return { kind: 'missing', words: 'does not exist' };
    return { kind: code === 'EACCES' ? 'unreadable' : 'other', words: `cannot be read (${code})` };
  }
}
