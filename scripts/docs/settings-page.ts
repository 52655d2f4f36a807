import {
  configKeys,
  configSchema,
  factsOf,
  type ConfigKey,
  type SettingForm,
  type OtherVariable,
} from '../../src/config/schema.js';

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

/** `docs/settings.md`, from the schema. Pure. */
export function settingsPage(): string {
  return `<!-- Generated from src/config/schema.ts by \`npm run docs\`: do not edit. -->

# Settings

A setting comes from the first of these that has it: a flag of the command line, an environment variable, the settings file, the default
below.

The settings file is the first of these that applies:

1. the file named by \`--config\`;
2. the file named by \`MCP_CLAUDE_BRIDGE_CONFIG\`;
3. \`~/.config/mcp-claude-bridge/config.json\`, if there is one (\`claude-code-bridge init\` writes it).

A named file that is missing is an error. A \`config.json\` in the folder where the server starts is not read unless it is named: a
checkout must not choose the command that runs. The file is JSON; comments and trailing commas are allowed. With a broken file, an unknown
key (also of a setting that was removed) or a value out of bounds, the server refuses every call and names each error; the commands end
with exit code 78.

Some settings have variables of other names, from earlier servers. Such a variable counts where the setting's own variable is not set; like
every variable, it wins over the settings file. \`MCP_SERVER_NAME\` and \`MCP_SERVER_VERSION\` set nothing.

| Key | Type | Default | Environment |
| --- | --- | --- | --- |
${configKeys.map(tableRow).join('\n')}

${configKeys.map(section).join('\n\n')}

## Example

\`\`\`jsonc
${exampleFile()}
\`\`\`
`;
}

function tableRow(key: ConfigKey): string {
  const { env } = factsOf(key);
  return `| [\`${key}\`](#${key}) | ${cell(typeWords(key))} | ${cell(defaultWords(key))} | \`${env}\` |`;
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

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function exampleFile(): string {
  const example = { ...configSchema.parse({}), allowed_roots: ['~/Projects', '/srv/work'] };
  return JSON.stringify(example, null, 2).replace(/^\{\n/, '{\n  // The only setting that everyone needs.\n');
}

function otherWords({ name, expected }: OtherVariable): string {
  return `; where it is not set, \`${name}\`${expected === undefined ? '' : ` (${expected})`}`;
}
