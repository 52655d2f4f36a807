// The specification of the delegation server: "Git Tools", "Git Operations".
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { gitIn, writeFiles } from '../harness/project-files.js';
import { sharedBridge } from '../harness/start-bridge.js';

/** No task is started here. */
const bridge = sharedBridge({ claude: process.execPath, projects: ['my-app'] });

const DEFAULT_DIFF_BYTES = 32_768;
const lines = (count: number, word: string): string => `${word}\n`.repeat(count);

/** `my-app` is two commits ahead of its upstream; one change is staged, two files are modified, one is new. */
beforeAll(async () => {
  const path = bridge().project;
  const upstream = join(bridge().workplace.root, 'upstream.git');
  gitIn(path, 'init', '--quiet', '--initial-branch', 'main');
  gitIn(bridge().workplace.root, 'init', '--quiet', '--bare', '--initial-branch', 'main', upstream);
  await writeFiles(path, {
    'src/auth/jwt.ts': lines(20, 'old'),
    'src/auth/middleware.ts': lines(10, 'old'),
    'tests/auth.test.ts': 'old\n',
  });
  gitIn(path, 'add', '.');
  gitIn(path, 'commit', '--quiet', '-m', 'first');
  gitIn(path, 'remote', 'add', 'origin', upstream);
  gitIn(path, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  for (const name of ['second', 'third']) gitIn(path, 'commit', '--quiet', '--allow-empty', '-m', name);
  await writeFiles(path, {
    'src/auth/jwt.ts': `${lines(8, 'old')}${lines(45, 'new')}`,
    'notes.txt': '',
  });
  gitIn(path, 'add', 'src/auth/jwt.ts');
  await writeFiles(path, {
    'src/auth/middleware.ts': `${lines(7, 'old')}${lines(8, 'new')}`,
    'tests/auth.test.ts': 'new\n',
  });
});

/** A repository with one file, committed and then changed. */
async function repository(name: string, before: string, after: string): Promise<string> {
  const path = await bridge().workplace.project(name);
  gitIn(path, 'init', '--quiet', '--initial-branch', 'main');
  await writeFile(join(path, 'a.txt'), before);
  gitIn(path, 'add', '.');
  gitIn(path, 'commit', '--quiet', '-m', 'first');
  await writeFile(join(path, 'a.txt'), after);
  return path;
}

describe('git_status', () => {
  test('has the branch, how far it is ahead and behind, and staged, modified and untracked files', async () => {
    const path = bridge().project;
    expect(await bridge().call('git_status', { path })).toMatchObject({
      path,
      clean: false,
      branch: 'main',
      ahead: 2,
      behind: 0,
      staged: ['src/auth/jwt.ts'],
      modified: ['src/auth/middleware.ts', 'tests/auth.test.ts'],
      untracked: ['notes.txt'],
    });
  });

  test('says that nothing has changed', async () => {
    const path = await repository('unchanged', 'same\n', 'same\n');
    expect(await bridge().call('git_status', { path })).toMatchObject({
      clean: true,
      staged: [],
      modified: [],
      untracked: [],
    });
  });

  test('does not call a repository clean in which a file was deleted', async () => {
    const path = await repository('deleted', 'a\n', 'a\n');
    await rm(join(path, 'a.txt'));
    expect(await bridge().call('git_status', { path })).toMatchObject({ clean: false, deleted: ['a.txt'] });
  });

  test('gives the whole name of a branch with dots, and says when there is no commit', async () => {
    const path = await repository('branches', 'a\n', 'a\n');
    gitIn(path, 'switch', '--quiet', '--create', 'release-1.2.x');
    expect(await bridge().call('git_status', { path })).toMatchObject({ branch: 'release-1.2.x' });
    const empty = await bridge().workplace.project('empty-repository');
    gitIn(empty, 'init', '--quiet', '--initial-branch', 'main');
    expect(await bridge().call('git_status', { path: empty })).toMatchObject({ branch: 'main', head: null });
  });
});

describe('git_diff_stat', () => {
  test('counts inserted and deleted lines of each file, and has a summary', async () => {
    const path = bridge().project;
    expect(await bridge().call('git_diff_stat', { path })).toMatchObject({
      path,
      files: [
        { file: 'src/auth/middleware.ts', insertions: 8, deletions: 3 },
        { file: 'tests/auth.test.ts', insertions: 1, deletions: 1 },
      ],
      summary: '2 files changed, 9 insertions(+), 4 deletions(-)',
    });
  });

  test('with cached shows staged changes only', async () => {
    expect(await bridge().call('git_diff_stat', { path: bridge().project, cached: true })).toMatchObject({
      files: [{ file: 'src/auth/jwt.ts', insertions: 45, deletions: 12 }],
      summary: '1 file changed, 45 insertions(+), 12 deletions(-)',
    });
  });

  test('counts thousands of lines one by one', async () => {
    const path = await repository('thousands', 'one\n', lines(3_000, 'many'));
    expect(await bridge().call('git_diff_stat', { path })).toMatchObject({
      files: [{ file: 'a.txt', insertions: 3_000, deletions: 1 }],
    });
  });

  test('of an unchanged repository says "No changes"', async () => {
    const path = await repository('no-changes', 'same\n', 'same\n');
    expect(await bridge().call('git_diff_stat', { path })).toMatchObject({
      files: [],
      summary: 'No changes',
    });
  });
});

describe('git_diff', () => {
  test('is the full diff, as git gives it', async () => {
    const path = bridge().project;
    expect(await bridge().call('git_diff', { path })).toMatchObject({
      path,
      diff: gitIn(path, 'diff'),
      truncated: false,
      message: 'Full diff output.',
    });
  });

  test('with cached shows staged changes only', async () => {
    const path = bridge().project;
    const { diff } = await bridge().call('git_diff', { path, cached: true });
    expect(diff).toBe(gitIn(path, 'diff', '--cached'));
    expect(diff).toContain('diff --git a/src/auth/jwt.ts b/src/auth/jwt.ts');
  });

  test('is cut at 32 KB, as clients cut longer answers, says so, and names git_diff_stat for a summary', async () => {
    const path = await repository('large', 'one\n', lines(20_000, 'a line of some length'));
    const answer = await bridge().call('git_diff', { path });
    expect(answer).toMatchObject({ truncated: true });
    expect(answer['message']).toMatch(/^Diff truncated.*git_diff_stat/s);
    const bytes = Buffer.byteLength(String(answer['diff']));
    expect(bytes).toBeLessThanOrEqual(DEFAULT_DIFF_BYTES);
    expect(bytes).toBeGreaterThan(1_000);
  });

  test('of an unchanged repository says "No changes to show."', async () => {
    const path = await repository('same', 'same\n', 'same\n');
    expect(await bridge().call('git_diff', { path })).toMatchObject({
      diff: '',
      truncated: false,
      message: 'No changes to show.',
    });
  });
});

test.each(['git_status', 'git_diff_stat', 'git_diff'])(
  '%s takes the active project, and refuses what is no repository',
  async (tool) => {
    const path = await bridge().workplace.project(`no-repository-${tool}`);
    expect(await bridge().refusal(tool, { path })).toMatch(/^NOT_A_REPOSITORY: /);
    await bridge().call('set_active_project', { path: bridge().project });
    expect(await bridge().call(tool)).toMatchObject({ path: bridge().project });
  },
);
