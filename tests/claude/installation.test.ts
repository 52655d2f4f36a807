import { chmod, mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  findInstallation,
  installationKey,
  isTooOld,
  OLDEST_SUPPORTED_VERSION,
  parseVersion,
} from '../../src/claude/installation.js';

let folder: string;
let homeDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-install-'));
  homeDir = join(folder, 'home');
  await mkdir(homeDir);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function program(name: string, mode = 0o755): Promise<string> {
  const path = join(folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, '#!/bin/sh\n', { mode });
  await chmod(path, mode);
  return path;
}
const find = (command: readonly string[], path = join(folder, 'bin')) =>
  findInstallation(command, { path, homeDir });

describe('finding the configured command', () => {
  it('a bare name is looked up on PATH in order, and keeps its arguments', async () => {
    await program('second/claude');
    const first = await program('bin/claude');
    const found = await find(['claude', '--verbose'], `${join(folder, 'bin')}:${join(folder, 'second')}`);
    expect(found).toEqual({ command: [first, '--verbose'], isClaude: true });
  });

  it('relative and empty parts of PATH are skipped', async () => {
    await program('bin/claude');
    await expect(find(['claude'], `:.:bin`)).rejects.toMatchObject({ code: 'CLAUDE_NOT_FOUND' });
  });

  it.each(['.claude/local/claude', '.local/bin/claude', '.claude/bin/claude', '.npm-global/bin/claude'])(
    'claude is also found at ~/%s',
    async (place) => {
      const path = await program(join('home', place));
      expect(await find(['claude'])).toEqual({ command: [path], isClaude: true });
    },
  );

  it('another bare name is looked up only on PATH', async () => {
    await program('home/.local/bin/agent');
    await expect(find(['agent'])).rejects.toMatchObject({ code: 'CLAUDE_NOT_FOUND' });
  });

  it('a path is used as it is', async () => {
    const path = await program('somewhere/claude-2.1.330');
    expect(await find([path])).toEqual({ command: [path], isClaude: true });
  });

  it.each(['agent', 'myclaude', 'claudette', 'claude_wrapper'])('%s is not Claude Code', async (name) => {
    const path = await program(name);
    expect((await find([path])).isClaude).toBe(false);
  });

  it('a file that is not executable is named, unless another one is found', async () => {
    const blocked = await program('bin/claude', 0o644);
    await expect(find(['claude'])).rejects.toMatchObject({
      code: 'CLAUDE_NOT_EXECUTABLE',
      message: `The command 'claude' was found at ${blocked}, but it is not an executable file.`,
    });
    const other = await program('second/claude');
    expect((await find(['claude'], `${join(folder, 'bin')}:${join(folder, 'second')}`)).command).toEqual([
      other,
    ]);
  });

  it('a directory, a dangling link and a missing file are not found, and the error says where was searched', async () => {
    await mkdir(join(folder, 'bin', 'claude'), { recursive: true });
    await expect(find(['claude'])).rejects.toMatchObject({
      code: 'CLAUDE_NOT_FOUND',
      message: `The command 'claude' was not found on PATH (${join(folder, 'bin')}) or where Claude Code installs itself.`,
    });
    await symlink('/nowhere', join(folder, 'dangling'));
    await expect(find([join(folder, 'dangling')])).rejects.toMatchObject({
      message: `The command '${join(folder, 'dangling')}' (setting claude_command) does not exist.`,
    });
    await expect(find([folder])).rejects.toMatchObject({
      message: `The command '${folder}' (setting claude_command) is a folder, not a program.`,
    });
  });
});

describe('versions', () => {
  it.each([
    ['2.1.330 (Claude Code)\n', '2.1.330'],
    ['2.1.330-beta.1 (Claude Code)', '2.1.330'],
    ['Loading.\r\n2.1.330 (Claude Code)\r\nDone.\r\n', '2.1.330'],
    ['2.1.330', undefined],
    ['error: cannot find 9.9.9 (Claude Code), see docs', undefined],
    ['9.9.9 (Claude Code) was not found', undefined],
    ['not 9.9.9 (Claude Code)', undefined],
    ['2.1.330/bin (Claude Code)', undefined],
    ['claude native binary not installed', undefined],
    ['', undefined],
  ])('%j is read as %s', (output, version) => {
    expect(parseVersion(output)).toBe(version);
  });

  it.each([
    ['2.1.77', true],
    ['2.0.999', true],
    ['1.9.999', true],
    [OLDEST_SUPPORTED_VERSION, false],
    ['2.1.329', true],
    ['2.1.330', false],
    ['2.2.0', false],
    ['10.0.0', false],
  ])('%s is too old: %s', (version, tooOld) => {
    expect(isTooOld(version)).toBe(tooOld);
  });

  it('a replaced program has another key, and a link to it the same', async () => {
    const path = await program('claude');
    const key = await installationKey(path);
    await symlink(path, join(folder, 'link'));
    expect(await installationKey(join(folder, 'link'))).toBe(key);
    await utimes(path, 1, 1);
    expect(await installationKey(path)).not.toBe(key);
  });
});
