import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkSandbox, ownTemporaryFolder } from '../../../src/claude/sandbox/check-sandbox.js';

test('on macOS the sandbox is a program of the system', async () => {
  // Elsewhere it is missing, which is what a broken macOS looks like.
  const check = checkSandbox({ platform: 'darwin', env: {} });
  if (existsSync('/usr/bin/sandbox-exec')) await expect(check).resolves.toBeUndefined();
  else await expect(check).rejects.toThrow('/usr/bin/sandbox-exec is missing.');
});

test('the task’s own temporary folder stands for that in TMPDIR, where bwrap can mount it', async () => {
  const PATH = await mkdtemp(join(tmpdir(), 'bwrap-'));
  onTestFinished(() => rm(PATH, { recursive: true }));
  const own = async (status: number) => {
    await writeFile(join(PATH, 'bwrap'), `#!/bin/sh\nexit ${status}\n`, { mode: 0o755 });
    return ownTemporaryFolder('/own', { platform: 'linux', env: { PATH, TMPDIR: '/var/other' } });
  };
  expect(await own(0)).toContain(`/var/other/claude-${process.getuid?.() ?? 0}`);
  expect(await own(1)).toBeUndefined();
});
