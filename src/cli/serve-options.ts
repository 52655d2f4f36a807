// Pure.
import { parseArgs } from 'node:util';

/** Pure: the options for `serve`, which is also what is run without a command; undefined when `words` ask for something else. */
export function serveOptions(words: readonly string[]): string[] | undefined {
  const { tokens, values } = parseArgs({
    args: [...words],
    strict: false,
    allowPositionals: true,
    tokens: true,
    options: {
      config: { type: 'string' },
      toolsets: { type: 'string' },
      pass: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'V' },
    },
  });
  if (values.help !== undefined || values.version !== undefined) return undefined;
  const command = tokens.find((token) => token.kind === 'positional');
  if (command === undefined) return [...words];
  return command.value === 'serve' ? words.filter((_, index) => index !== command.index) : undefined;
}
