import { closest, distance } from 'fastest-levenshtein';
import { oneLine } from '../base/text/text.js';
import { errorLine, type FoundSetting } from './check-setting.js';
import { configKeys, configSchema, factsOf, type ConfigKey, type OtherVariable } from './schema.js';
import { settingFromText } from './setting-from-text.js';
import { SETTINGS_FILE_VARIABLE } from './settings-file.js';

const SHOWN_CHARS = 400;
/** `MCP_ALOWED_ROOT` is two letters off; a name that differs more belongs to another program. */
const TYPO_LETTERS = 2;
/** What people write into a variable that is true or false. */
const ON = ['true', '1', 'yes', 'on'];
const OFF = ['false', '0', 'no', 'off'];
/** Variables of earlier servers that set nothing here. */
const UNUSED = ['MCP_SERVER_NAME', 'MCP_SERVER_VERSION'];

/** The settings that environment variables set. Pure, but for what it adds to `errors` and `warnings`. */
export function settingsOfEnvironment(
  env: NodeJS.ProcessEnv,
  errors: string[],
  warnings: string[],
): FoundSetting[] {
  warnings.push(...nameWarnings(env));
  return configKeys.flatMap((key) => {
    const { env: own, otherEnv = [] } = factsOf(key);
    const text = env[own];
    if (text !== undefined) return settingsOfText(key, text, originOf(own), errors);
    for (const other of otherEnv) {
      const found = otherText(key, other, env, warnings);
      if (found !== undefined) return settingsOfText(key, found, originOf(other.name), errors);
    }
    return [];
  });
}

/** The setting in the form of a variable or a flag; none when its form is wrong, which is added to `errors`. */
export function settingsOfText(
  key: ConfigKey,
  text: string,
  origin: string,
  errors: string[],
): FoundSetting[] {
  const read = settingFromText(factsOf(key), text);
  if (read.kind === 'value') return [{ key, value: read.value, origin }];
  errors.push(errorLine(origin, key, text, read.expected));
  return [];
}

/** What a variable of another name sets, in the form of our own variable. */
function otherText(
  key: ConfigKey,
  { name, isSwitchFor, shared }: OtherVariable,
  env: NodeJS.ProcessEnv,
  warnings: string[],
): string | undefined {
  const text = env[name];
  // For other programs, an empty variable of theirs is one that is not set.
  if (text === undefined || text === '') return undefined;
  if (isSwitchFor !== undefined) {
    const word = text.toLowerCase();
    if (ON.includes(word)) return isSwitchFor;
    if (!OFF.includes(word))
      warnings.push(`${errorLine(originOf(name), key, text, 'true or false')}; it is ignored`);
    return undefined;
  }
  if (shared === undefined) return text;
  const converted = shared.convert?.(text) ?? text;
  const read = settingFromText(factsOf(key), converted);
  if (read.kind === 'value' && configSchema.shape[key].safeParse(read.value).success) return converted;
  warnings.push(
    `${errorLine(originOf(name), key, text, shared.expected ?? factsOf(key).expected)}; it is ignored`,
  );
  return undefined;
}

function nameWarnings(env: NodeJS.ProcessEnv): string[] {
  const variables = configKeys.flatMap((key) => {
    const { env: own, otherEnv = [] } = factsOf(key);
    return [own, ...otherEnv.map(({ name }) => name)];
  });
  const unused = UNUSED.filter((name) => env[name] !== undefined);
  const warnings = Object.keys(env).flatMap((name) => {
    if (!name.startsWith('MCP_') || variables.includes(name) || name === SETTINGS_FILE_VARIABLE) return [];
    if (UNUSED.includes(name)) return [];
    const near = closest(name, variables);
    if (distance(name, near) > TYPO_LETTERS) return [];
    return [`Unknown environment variable ${oneLine(name, SHOWN_CHARS)}; did you mean ${near}?`];
  });
  if (unused.length === 0) return warnings;
  return [...warnings, `Not used: ${unused.join(', ')}. This server has a name and a version of its own.`];
}

function originOf(name: string): string {
  return `environment variable ${name}`;
}
