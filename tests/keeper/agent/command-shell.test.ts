import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { commandShell } from '../../../src/keeper/agent/command-shell.js';
import { tempFolder } from '../../config/temp-folder.js';

const run = promisify(execFile);
const keys = {
  ANTHROPIC_API_KEY: 'k1',
  ANTHROPIC_AUTH_TOKEN: 'k2',
  CLAUDE_CODE_OAUTH_TOKEN: 'k3',
  CLAUDE_CODE_BRIDGE_HOOK_TOKEN: 'k4',
  AWS_SECRET_ACCESS_KEY: 'k5',
};
const env = { ...keys, PATH: '/usr/bin:/bin', SHELL: '/bin/bash', ANTHROPIC_MODEL: 'opus', HOME: '/' };

test('commands see neither the token of the hooks nor the keys of the session, and all else', async () => {
  const folder = join(await tempFolder(), "it's a folder");
  const { CLAUDE_CODE_SHELL: shell = '' } = await commandShell(folder, env, []);
  expect(basename(shell)).toBe('bash');
  expect((await stat(shell)).mode & 0o777).toBe(0o700);
  const { stdout } = await run(shell, ['-c', 'env; echo "$0 $1"', 'a b', 'c'], { env });
  expect(stdout).not.toMatch(/k[1-5]|CLAUDE_CODE_SHELL/);
  expect(stdout).toContain('ANTHROPIC_MODEL=opus');
  expect(stdout).toContain('a b c');
});

test('a key that the user lets through is seen', async () => {
  const { CLAUDE_CODE_SHELL: shell = '' } = await commandShell(await tempFolder(), env, [
    'ANTHROPIC_API_KEY',
  ]);
  const { stdout } = await run(shell, ['-c', 'env'], { env });
  expect(stdout).toContain('ANTHROPIC_API_KEY=k1');
  expect(stdout).not.toMatch(/k[2-5]/);
});

test('a shell that Claude Code cannot use is passed over', async () => {
  const { CLAUDE_CODE_SHELL: shell = '' } = await commandShell(
    await tempFolder(),
    { ...env, SHELL: '/usr/bin/fish' },
    [],
  );
  expect(basename(shell)).toMatch(/^(zsh|bash)$/);
});

test('where nothing is masked, git is left as the user has set it', async () => {
  const projectPath = join(await tempFolder(), "it's [a] project");
  const masks = { projectPath, denyRead: [join(projectPath, 'sub', 'odd?.key')] };
  const { CLAUDE_CODE_SHELL: shell = '' } = await commandShell(await tempFolder(), env, [], { masks });
  const { stdout, stderr } = await run(shell, ['-c', 'env'], { env: { ...env, GIT_CONFIG_COUNT: '0' } });
  expect(stdout).toContain('GIT_CONFIG_COUNT=0');
  expect(stdout).not.toContain('GIT_CONFIG_KEY');
  expect(stderr).toBe('');
});

test('in a foreign environment commands see no more than in their own', async () => {
  const { CLAUDE_CODE_SHELL: shell = '' } = await commandShell(await tempFolder(), env, ['MINE_*'], {
    isForeign: true,
  });
  const foreign = {
    ...env,
    CLAUDE_CODE_OAUTH_TOKEN: 'k3',
    GITHUB_TOKEN: 'k6',
    DATABASE_URL: 'k7',
    TWO_LINES: 'k8\nHOME=k9',
    MINE_OWN: 'shown 1',
    CLAUDECODE: '1',
    GIT_EDITOR: 'true',
  };
  const { stdout } = await run(shell, ['-c', 'env; echo "$0 $1"', 'a b', 'c'], { env: foreign });
  expect(stdout).not.toMatch(/k\d/);
  for (const shown of ['HOME=/', 'MINE_OWN=shown 1', 'CLAUDECODE=1', 'GIT_EDITOR=true', 'a b c'])
    expect(stdout).toContain(shown);
});
