// Pure: the schema of the settings → their tables in the README and docs/settings.md.
import {
  configKeys,
  configSchema,
  factsOf,
  type ConfigKey,
  type SettingForm,
  type OtherVariable,
} from '../../src/config/schema.js';
import { table } from './small-tables.js';

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
  'resume_after_limit',
] as const satisfies readonly ConfigKey[];

/** How each form is written in the environment. */
const formWords: Record<SettingForm, string> = {
  text: 'as it is',
  'text or list': 'as it is, or as a JSON list',
  integer: 'digits only',
  'yes or no': '`true` or `false`',
  list: 'separated by commas',
  paths: 'separated by commas, or a JSON list',
  'list or all': 'separated by commas, or `all`',
  json: 'as JSON',
};

export function shortSettingsTable(): string {
  const rows = shownSettings.map((key) => {
    const [words = ''] = (configSchema.shape[key].description ?? '').split(/(?<=\.) /);
    return [`[\`${key}\`](docs/settings.md#${key})`, `\`${factsOf(key).env}\``, defaultWords(key), words];
  });
  return table(['Setting', 'Variable', 'Default', 'What it sets'], rows);
}

export function settingsTable(): string {
  const rows = configKeys.map((key) => [
    `[\`${key}\`](#${key})`,
    typeWords(key),
    defaultWords(key),
    `\`${factsOf(key).env}\``,
  ]);
  return table(['Key', 'Type', 'Default', 'Environment'], rows);
}

/** What each setting does, takes and is without one, and a file with the defaults of all. */
export function settingsSections(): string {
  const example = { ...configSchema.parse({}), allowed_roots: ['~/Projects', '/srv/work'] };
  const file = JSON.stringify(example, null, 2).replace(
    /^\{\n/,
    '{\n  // The only setting that everyone needs.\n',
  );
  return `${configKeys.map(section).join('\n\n')}\n\n## Example\n\n\`\`\`jsonc\n${file}\n\`\`\``;
}

function section(key: ConfigKey): string {
  const { env, otherEnv = [], form, expected } = factsOf(key);
  const words = configSchema.shape[key].description ?? '';
  return `## ${key}\n\n${words}\n\n- Expected: ${expected}\n- Default: ${defaultWords(key)}\n- Environment: \`${env}\`, ${formWords[form]}${otherEnv.map(otherWords).join('')}`;
}

function typeWords(key: ConfigKey): string {
  if (key === 'state_dir') return 'string or null';
  if (key === 'rules') return 'list of objects';
  switch (factsOf(key).form) {
    case 'integer':
      return 'whole number';
    case 'yes or no':
      return 'true or false';
    case 'text':
      return 'string';
    case 'text or list':
      return 'string or list of strings';
    case 'list':
    case 'paths':
      return 'list of strings';
    case 'json':
      return Array.isArray(configSchema.shape[key].parse(undefined)) ? 'list of strings' : 'object';
    case 'list or all':
      return 'list of strings, or "all"';
  }
}

function defaultWords(key: ConfigKey): string {
  return `\`${JSON.stringify(configSchema.shape[key].parse(undefined)).replaceAll(',"', ', "')}\``;
}

function otherWords({ name, expected }: OtherVariable): string {
  return `; where it is not set, \`${name}\`${expected === undefined ? '' : ` (${expected})`}`;
}
