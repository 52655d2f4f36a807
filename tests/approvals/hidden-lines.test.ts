import { describe, expect, test } from 'vitest';
import { hiddenLines, ordinaryLines, unreadLines } from './hidden-lines.js';
import { judgeLine, row } from './shell-project.js';

describe.each(['deny', 'ask'] as const)('a rule with verdict %s for a command', (verdict) => {
  const rules = [row('Bash(zap *)', verdict)];

  test.each(hiddenLines)('never allows %j in mode auto', async (line) => {
    expect((await judgeLine('/home/me/p', line, 'auto', rules)).verdict).not.toBe('allow');
  });

  test.each(ordinaryLines)('does not ask about %j in mode auto', async (line) => {
    expect((await judgeLine('/home/me/p', line, 'auto', rules)).verdict).toBe('allow');
  });

  test.each(unreadLines)('does not read the program or file of %j', async (line) => {
    expect((await judgeLine('/home/me/p', line, 'auto', rules)).verdict).toBe('allow');
  });
});
