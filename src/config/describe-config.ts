import { commandWords } from './command-words.js';
import type { Config } from './schema.js';

/**
 * The settings as the resource `config://current` shows them: a copy of every key. No setting is a secret, but a
 * command may set a variable for its program (`env TOKEN=… claude`), so such values are left out.
 */
export function describeConfig(config: Config): Config {
  const copy = structuredClone(config);
  const words = commandWords(copy.claude_command);
  const shown = words.map((word) => word.replace(/^([A-Za-z_][A-Za-z0-9_]*)=[^]*$/, '$1=…'));
  const hidden = shown.some((word, index) => word !== words[index]);
  return hidden ? { ...copy, claude_command: shown } : copy;
}
