import { closest, distance } from 'fastest-levenshtein';
import { oneLine } from '../base/text.js';
import { errorLine, type FoundSetting } from './check-setting.js';
import {
  configKeys,
  configSchema,
  factsOf,
  type ConfigKey,
  type OtherVariable,
  type SettingFacts,
} from './schema.js';
import { SETTINGS_FILE_VARIABLE } from './settings-file.js';

const SHOWN_CHARS = 400;
/** `MCP_ALOWED_ROOT` is two letters off; a name that differs more belongs to another program. */
const TYPO_LETTERS = 2;
/** Variables of earlier servers that set nothing here. */
const UNUSED = ['MCP_SERVER_NAME', 'MCP_SERVER_VERSION'];

type Read = { readonly value: unknown } | { readonly expected: string };

/** The settings that environment variables set; adds to `errors` and `warnings`. */
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
  const read = readText(factsOf(key), text);
  if ('value' in read) return [{ key, value: read.value, origin }];
  errors.push(errorLine(origin, key, text, read.expected));
  return [];
}

/** What a variable of another name sets, in the form of our own variable. A value that does not fit is reported and ignored: other programs have such names, too. */
function otherText(
  key: ConfigKey,
  { name, read: readOther, expected }: OtherVariable,
  env: NodeJS.ProcessEnv,
  warnings: string[],
): string | undefined {
  const text = env[name];
  // For other programs, an empty variable of theirs is one that is not set.
  if (text === undefined || text === '') return undefined;
  const own = readOther === undefined ? text : readOther(text);
  if (own === undefined) return undefined;
  const facts = factsOf(key);
  const read = readText(facts, own);
  if ('value' in read && configSchema.shape[key].safeParse(read.value).success) return own;
  warnings.push(`${errorLine(originOf(name), key, text, expected ?? facts.expected)}; it is ignored`);
  return undefined;
}

function nameWarnings(env: NodeJS.ProcessEnv): string[] {
  const variables = configKeys.flatMap((key) => {
    const { env: own, otherEnv = [] } = factsOf(key);
    return [own, ...otherEnv.map(({ name }) => name)];
  });
  const known = new Set([...variables, ...UNUSED, SETTINGS_FILE_VARIABLE]);
  const warnings = Object.keys(env)
    .filter((name) => name.startsWith('MCP_') && !known.has(name))
    .map((name) => ({ name, near: closest(name, variables) }))
    .filter(({ name, near }) => distance(name, near) <= TYPO_LETTERS)
    .map(
      ({ name, near }) => `Unknown environment variable ${oneLine(name, SHOWN_CHARS)}; did you mean ${near}?`,
    );
  const unused = UNUSED.filter((name) => env[name] !== undefined);
  if (unused.length > 0)
    warnings.push(`Not used: ${unused.join(', ')}. This server has a name and a version of its own.`);
  return warnings;
}

function originOf(name: string): string {
  return `environment variable ${name}`;
}

/** Reads a setting as an environment variable or a flag writes it; the schema checks the value. */
function readText({ form, expected }: SettingFacts, text: string): Read {
  if (text === '') return { expected: `${expected}; unset it to use the default` };
  switch (form) {
    case 'text':
      return { value: text };
    case 'text or list':
      return text.startsWith('[') ? readJson(text, expected) : { value: text };
    case 'integer':
      // Not parseInt, which takes "10MB" as 10, nor Number, which takes "1e3" as 1000.
      return /^(?:0|-?[1-9][0-9]*)$/.test(text) ? { value: Number(text) } : { expected };
    case 'yes or no':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : { expected };
    case 'list':
      return readList(text);
    case 'paths':
      // A folder's name may hold a comma, and no path begins with a bracket.
      return text.trimStart().startsWith('[') ? readJson(text, expected) : readList(text);
    case 'list or all':
      return text.trim() === 'all' ? { value: 'all' } : readList(text);
    case 'json':
      return readJson(text, expected);
  }
}

function readList(text: string): Read {
  const parts = text.split(',').map((part) => part.trim());
  // An empty part would become the current folder, or a name that matches everything.
  return parts.includes('')
    ? { expected: 'a list separated by commas, without empty parts' }
    : { value: parts };
}

function readJson(text: string, expected: string): Read {
  try {
    return { value: JSON.parse(text) };
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return { expected };
    throw thrown;
  }
}
