import { expect, it } from 'vitest';
import { checkIsNoCommand, checkPrompt, MAX_PROMPT_BYTES } from '../../src/tasks/start-checks.js';

it.each(['x', ' - ', '--help', '$(rm -rf ~)', 'é☃😀\r\n\ttab', 'x'.repeat(MAX_PROMPT_BYTES)])(
  'text is a prompt (%#)',
  (prompt) => {
    expect(() => checkPrompt(prompt)).not.toThrow();
  },
);

it.each([
  { prompt: '', words: /empty/ },
  { prompt: ' \r\n\t\u200b', words: /empty/ },
  { prompt: 'é'.repeat(MAX_PROMPT_BYTES / 2 + 1), words: /1048578 bytes long; at most 1048576/ },
  { prompt: 'ab\0', words: /U\+0000 at position 2/ },
  { prompt: '\x1b[2J', words: /U\+001B at position 0/ },
  { prompt: 'half a pair \ud83d', words: /U\+D83D at position 12/ },
  { prompt: '\ude00 the other half', words: /U\+DE00 at position 0/ },
])('no prompt, and the words say why (%#)', ({ prompt, words }) => {
  expect(() => checkPrompt(prompt)).toThrow(words);
});

it.each(['/clear', ' /review 12', '\n/a:b-c_d.e now', '/', '\u200b/clear', '\ufe0f/help'])(
  'what may be a command of Claude Code is refused (%#)',
  (text) => {
    expect(() => checkIsNoCommand(text)).toThrow(
      /begins with \/\S*, which Claude Code may take as a command/,
    );
  },
);

it.each(['/etc/hosts is a file', 'a /clear', '!x', '#x', '--help', 'exit'])(
  'is text for an agent (%#)',
  (text) => {
    expect(() => checkIsNoCommand(text)).not.toThrow();
  },
);
