// Pure: the schema of the settings → their list in the README, and docs/settings.md.
import {
  configKeys,
  configSchema,
  factsOf,
  type ConfigKey,
  type SettingForm,
  type OtherVariable,
} from '../../src/config/schema.js';

/** The settings that people set most, for the README. */
const shownSettings = [
  'allowed_roots',
  'claude_command',
  'toolsets',
  'default_permission_mode',
  'rules',
  'default_timeout_seconds',
  'decision_timeout_seconds',
  'max_concurrent_tasks',
  'pass_environment',
  'sandbox_domains',
] as const satisfies readonly ConfigKey[];

/** How the forms that the page does not describe are written in the environment. */
const formWords: Partial<Record<SettingForm, string>> = {
  'text or list': 'as it is, or as a JSON list',
  paths: 'separated by commas, or a JSON list',
};

/** One item a setting, with its default and the first words of its description. */
export function settingsList(): string {
  const items = shownSettings.map((key) => {
    const [words = ''] = (configSchema.shape[key].description ?? '').split(/[.:;](?: |$)/);
    return `- \`${key}\` (${defaultWords(key)}): ${words}`;
  });
  return items.join('\n');
}

/** What each setting does, its variable and its default, what it takes, and how the variable is written where that is no usual way. */
export function settingsSections(): string {
  return configKeys.map(section).join('\n\n');
}

function section(key: ConfigKey): string {
  const { env, otherEnv = [], form, expected } = factsOf(key);
  const words = configSchema.shape[key].description ?? '';
  const written = formWords[form];
  const variable = written === undefined ? '' : ` Variable: ${written}.`;
  const second =
    otherEnv.length === 0 ? '' : ` Second variable: ${otherEnv.map(otherWords).join(', then ')}.`;
  return `## ${key}\n\n${words}\n\n\`${env}\`, default ${defaultWords(key)}: ${expected}.${variable}${second}`;
}

function defaultWords(key: ConfigKey): string {
  return `\`${JSON.stringify(configSchema.shape[key].parse(undefined)).replaceAll(',"', ', "')}\``;
}

function otherWords({ name, expected }: OtherVariable): string {
  return `\`${name}\`${expected === undefined ? '' : ` (${expected})`}`;
}
