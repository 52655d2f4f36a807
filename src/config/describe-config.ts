import { commandWords } from './command-words.js';
import type { Config } from './schema.js';

/**
 * The settings as the resource `config://current` shows them: a copy of every key. No setting is a secret, but a
 * command may set a variable for its program (`env TOKEN=… claude`), and the address of a webhook may hold one, so such values are
 * left out.
 */
export function describeConfig(config: Config): Config {
  const { url } = config.notify;
  const copy = {
    ...structuredClone(config),
    notify: { ...config.notify, url: url === null ? null : `${new URL(url).origin}/…` },
  };
  const words = commandWords(copy.claude_command);
  const shown = words.map((word) => word.replace(/^([A-Za-z_][A-Za-z0-9_]*)=[^]*$/, '$1=…'));
  const hidden = shown.some((word, index) => word !== words[index]);
  return hidden ? { ...copy, claude_command: shown } : copy;
}
