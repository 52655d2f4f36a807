import { stat } from 'node:fs/promises';
import { closest, distance } from 'fastest-levenshtein';
import { BridgeError, systemCodeOf } from '../base/errors.js';
import { oneLine } from '../base/text/text.js';
import { errorLine, settingErrors, withHome, type FoundSetting } from './check-setting.js';
import { configKeys, configKeySchema, configSchema, factsOf, type Config, type ConfigKey } from './schema.js';
import { removedSetting } from './removed-settings.js';
import { settingFromText } from './setting-from-text.js';
import { findSettingsFile, SETTINGS_FILE_VARIABLE, type FoundSettingsFile } from './settings-file.js';
import { parseSettingsText } from './settings-text.js';

const SHOWN_CHARS = 400;
/** `MCP_ALOWED_ROOT` is two letters off; a name that differs more belongs to another program. */
const TYPO_LETTERS = 2;

/** A setting from the command line, in the format of its environment variable. */
interface ConfigOverride {
  readonly key: ConfigKey;
  /** As the user typed it: `--toolsets`. */
  readonly flag: string;
  readonly text: string;
}

export interface ConfigRequest {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly homeDir: string;
  /** What `--config` named. */
  readonly configPath?: string | undefined;
  readonly overrides?: readonly ConfigOverride[] | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** The settings file that was read. */
  readonly source: string | null;
  /** For stderr, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Settings from flags, else the environment, else the file, else the defaults. Throws one CONFIG_ERROR whose message lists
 * every error, one a line; an error counts even if another source overrides the value.
 */
export async function loadConfig(request: ConfigRequest): Promise<LoadedConfig> {
  const warnings: string[] = [];
  const errors: string[] = [];
  const file = await findSettingsFile(request, (warning) => warnings.push(warning));
  const found = [
    ...settingsOfFile(file, errors, warnings),
    ...settingsOfEnvironment(request.env, errors, warnings),
    ...settingsOfFlags(request.overrides ?? [], errors),
  ];
  const values = new Map<ConfigKey, unknown>();
  for (const setting of found) {
    errors.push(...(await settingErrors(setting, request.homeDir)));
    values.set(setting.key, withHome(setting.key, setting.value, request.homeDir));
  }
  if (errors.length > 0) {
    throw new BridgeError(
      'CONFIG_ERROR',
      errors.join('\n'),
      'Correct the settings named above, then start again. The package’s docs/settings.md lists every setting.',
    );
  }
  const config = configSchema.parse(Object.fromEntries(values));
  warnings.push(...(await rootWarnings(config.allowed_roots)));
  return { config, source: file.kind === 'file' ? file.path : null, warnings };
}

function settingsOfFile(file: FoundSettingsFile, errors: string[], warnings: string[]): FoundSetting[] {
  if (file.kind === 'error') errors.push(file.error);
  if (file.kind !== 'file') return [];
  const path = oneLine(file.path, SHOWN_CHARS);
  const parsed = parseSettingsText(file.text);
  if (parsed.kind === 'errors') {
    errors.push(...parsed.errors.map(({ line, words }) => `${path}:${line}: ${words}`));
    return [];
  }
  return parsed.entries.flatMap(({ key, value, line }) => {
    const origin = `${path}:${line}`;
    const known = configKeySchema.safeParse(key);
    if (known.success) return [{ key: known.data, value, origin }];
    const removed = removedSetting(key, origin);
    if (removed !== undefined) {
      warnings.push(removed);
      return [];
    }
    const name = oneLine(JSON.stringify(key), SHOWN_CHARS);
    errors.push(`${origin}: unknown key ${name}; did you mean "${closest(key, [...configKeys])}"?`);
    return [];
  });
}

function settingsOfEnvironment(env: NodeJS.ProcessEnv, errors: string[], warnings: string[]): FoundSetting[] {
  const variables = configKeys.flatMap((key) => {
    const { env: own, otherEnv = [] } = factsOf(key);
    return [own, ...otherEnv.map(({ name }) => name)];
  });
  for (const name of Object.keys(env)) {
    if (!name.startsWith('MCP_') || variables.includes(name) || name === SETTINGS_FILE_VARIABLE) continue;
    const removed = removedSetting(name, `environment variable ${name}`);
    if (removed !== undefined) {
      warnings.push(removed);
      continue;
    }
    const near = closest(name, variables);
    if (distance(name, near) <= TYPO_LETTERS) {
      warnings.push(`Unknown environment variable ${oneLine(name, SHOWN_CHARS)}; did you mean ${near}?`);
    }
  }
  return configKeys.flatMap((key) => {
    const { env: own, otherEnv = [] } = factsOf(key);
    for (const { name, texts } of [{ name: own, texts: undefined }, ...otherEnv]) {
      const text = texts === undefined ? env[name] : texts[env[name] ?? ''];
      // For other programs, an empty variable of theirs is one that is not set.
      if (text === undefined || (text === '' && name !== own)) continue;
      return settingsOfText(key, text, `environment variable ${name}`, errors);
    }
    return [];
  });
}

function settingsOfFlags(overrides: readonly ConfigOverride[], errors: string[]): FoundSetting[] {
  return overrides.flatMap(({ key, flag, text }) => settingsOfText(key, text, `flag ${flag}`, errors));
}

function settingsOfText(key: ConfigKey, text: string, origin: string, errors: string[]): FoundSetting[] {
  const read = settingFromText(factsOf(key), text);
  if (read.kind === 'value') return [{ key, value: read.value, origin }];
  errors.push(errorLine(origin, key, text, read.expected));
  return [];
}

async function rootWarnings(roots: readonly string[]): Promise<string[]> {
  const warnings: string[] = [];
  for (const root of roots) {
    const state = await stateOfRoot(root);
    if (state !== undefined) warnings.push(`allowed_roots: ${oneLine(root, SHOWN_CHARS)} ${state}.`);
  }
  return warnings;
}

async function stateOfRoot(root: string): Promise<string | undefined> {
  try {
    return (await stat(root)).isDirectory() ? undefined : 'is not a folder';
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code === undefined) throw thrown;
    return code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
  }
}
