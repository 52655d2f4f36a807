import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkSandbox } from '../../../src/claude/sandbox/check-sandbox.js';

test('on macOS the sandbox is a program of the system', async () => {
  // Elsewhere it is missing, which is what a broken macOS looks like.
  const check = checkSandbox({ platform: 'darwin', env: {} });
  if (existsSync('/usr/bin/sandbox-exec')) await expect(check).resolves.toBeUndefined();
  else await expect(check).rejects.toThrow('/usr/bin/sandbox-exec is missing.');
});

test('on another system there is none, and the error names those that have one', async () => {
  await expect(checkSandbox({ platform: 'win32', env: {} })).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    hint: 'Use Linux, WSL 2 or macOS.',
  });
});
