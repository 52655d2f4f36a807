import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readVersion, recognised } from '../../src/claude/version-cache.js';

let folder: string;
let program: string;
let cacheFile: string;
const env = { PATH: '/usr/bin:/bin' };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bridge-version-'));
  program = join(folder, 'claude');
  cacheFile = join(folder, 'versions.json');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A program that notes each of its runs. */
async function install(text: string): Promise<void> {
  await writeFile(program, `#!/bin/sh\necho "$@" >> ${folder}/runs\n${text}\n`);
  await chmod(program, 0o755);
}
const runs = async () => (await readFile(join(folder, 'runs'), 'utf8')).trim().split('\n');

function isThere(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
}

describe('a program of another name', () => {
  it('is Claude Code when it prints its version, with these arguments', async () => {
    await install('case $1 in run) echo "2.1.330 (Claude Code)" ;; *) echo "tool 2.1.330" ;; esac');
    const named = { command: [program, 'run'], isClaude: false };
    expect(await recognised(named, env, cacheFile)).toEqual({ ...named, isClaude: true });
    const other = { command: [program, 'list'], isClaude: false };
    expect(await recognised(other, env, cacheFile)).toEqual(other);
  });

  it('is asked only once when it is not Claude Code, and again when it failed', async () => {
    await install('echo "tool 1.0"');
    const named = { command: [program], isClaude: false };
    expect(await recognised(named, env, cacheFile)).toEqual(named);
    expect(await recognised(named, env, cacheFile)).toEqual(named);
    expect(await runs()).toEqual(['--version']);
    await install('echo "tool 1.0"; exit 1');
    expect(await recognised(named, env, cacheFile)).toEqual(named);
    expect(await recognised(named, env, cacheFile)).toEqual(named);
    expect(await runs()).toHaveLength(3);
  });

  it('gets no input, and leaves no process', async () => {
    await install(`cat; sleep 600 & echo $! > ${join(folder, 'left')}; echo "2.1.330 (Claude Code)"`);
    const named = { command: [program], isClaude: false };
    expect(await recognised(named, env, cacheFile)).toMatchObject({ isClaude: true });
    const left = Number(await readFile(join(folder, 'left'), 'utf8'));
    await expect.poll(() => isThere(left)).toBe(false);
  });
});

describe('the version of an installed CLI', () => {
  it('is asked once and then cached', async () => {
    await install('echo "2.1.330 (Claude Code)"');
    expect(await readVersion([program, '--debug'], env, cacheFile)).toBe('2.1.330');
    expect(await readVersion([program, '--debug'], env, cacheFile)).toBe('2.1.330');
    expect(await runs()).toEqual(['--debug --version']);
  });

  it('is asked again when the program was replaced', async () => {
    await install('echo "2.1.197 (Claude Code)"');
    await readVersion([program], env, cacheFile);
    await install('echo "2.1.330 (Claude Code)" # newer');
    expect(await readVersion([program], env, cacheFile)).toBe('2.1.330');
  });

  it.each([
    ['fails', 'echo "2.1.330 (Claude Code)"; exit 1'],
    ['says something else', 'echo "claude native binary not installed"'],
    ['says nothing', ''],
    ['floods', 'yes'],
  ])('is unknown when the program %s, and that is not remembered', async (_, text) => {
    await install(text);
    expect(await readVersion([program], env, cacheFile)).toBeUndefined();
    await install('echo "2.1.330 (Claude Code)"');
    expect(await readVersion([program], env, cacheFile)).toBe('2.1.330');
  });

  it('is asked when the cache is invalid', async () => {
    await writeFile(cacheFile, '{"a":');
    await install('echo "2.1.330 (Claude Code)"');
    expect(await readVersion([program], env, cacheFile)).toBe('2.1.330');
  });

  it('is cached for the newest twenty programs', async () => {
    const old = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`old-${index}`, '1.0.0']));
    await writeFile(cacheFile, JSON.stringify(old));
    await install('echo "2.1.330 (Claude Code)"');
    await readVersion([program], env, cacheFile);
    const kept = z.record(z.string(), z.string()).parse(JSON.parse(await readFile(cacheFile, 'utf8')));
    expect(Object.keys(kept)).toHaveLength(20);
  });
});
