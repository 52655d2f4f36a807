import type { ChatClient } from '../chat-client.js';
import { jsonFormat } from './json-format.js';
import type { SettingsFormat } from './settings-format.js';

/** The parsers of TOML and YAML are loaded with the first client that needs them. */
export async function formatOf(name: ChatClient['format']): Promise<SettingsFormat> {
  if (name === 'toml') return (await import('./toml-format.js')).tomlFormat;
  if (name === 'yaml') return (await import('./yaml-format.js')).yamlFormat;
  return jsonFormat;
}
