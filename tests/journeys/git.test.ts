// The specification of the delegation server: "Git Tools", "Git Operations".
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { gitIn, repository, writeFiles } from '../harness/project-files.js';
import { sharedBridge } from '../harness/start-bridge.js';

/** No task is started here. */
const bridge = sharedBridge({ claude: process.execPath, projects: ['my-app'] });

const DEFAULT_DIFF_BYTES = 32_768;
const lines = (count: number, word: string): string => `${word}\n`.repeat(count);

/** `my-app` is two commits ahead of its upstream; one change is staged, two files are modified, one is new. */
beforeAll(async () => {
  const path = bridge().project;
  const upstream = join(bridge().workplace.root, 'upstream.git');
  gitIn(bridge().workplace.root, 'init', '--quiet', '--bare', '--initial-branch', 'main', upstream);
  await repository(path, {
    'src/auth/jwt.ts': lines(20, 'old'),
    'src/auth/middleware.ts': lines(10, 'old'),
    'tests/auth.test.ts': 'old\n',
  });
  gitIn(path, 'remote', 'add', 'origin', upstream);
  gitIn(path, 'push', '--quiet', '--set-upstream', 'origin', 'main');
  for (const name of ['second', 'third']) gitIn(path, 'commit', '--quiet', '--allow-empty', '-m', name);
  await writeFiles(path, { 'src/auth/jwt.ts': `${lines(8, 'old')}${lines(45, 'new')}`, 'notes.txt': '' });
  gitIn(path, 'add', 'src/auth/jwt.ts');
  await writeFiles(path, {
    'src/auth/middleware.ts': `${lines(7, 'old')}${lines(8, 'new')}`,
    'tests/auth.test.ts': 'new\n',
  });
});

/** A repository with one file, committed and then changed. */
async function changed(name: string, before: string, after: string): Promise<string> {
  const path = await bridge().newProject(name);
  await repository(path, { 'a.txt': before });
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

  test('says that nothing has changed, what was deleted, a branch with dots, and that there is no commit', async () => {
    const path = await changed('small', 'same\n', 'same\n');
    gitIn(path, 'switch', '--quiet', '--create', 'release-1.2.x');
    expect(await bridge().call('git_status', { path })).toMatchObject({
      clean: true,
      branch: 'release-1.2.x',
      staged: [],
      modified: [],
      untracked: [],
    });
    await rm(join(path, 'a.txt'));
    expect(await bridge().call('git_status', { path })).toMatchObject({ clean: false, deleted: ['a.txt'] });
    const empty = await bridge().newProject('empty');
    gitIn(empty, 'init', '--quiet', '--initial-branch', 'main');
    expect(await bridge().call('git_status', { path: empty })).toMatchObject({ branch: 'main', head: null });
  });
});

test('git_diff_stat counts inserted and deleted lines of each file, however many, staged or not, and has a summary', async () => {
  const path = bridge().project;
  expect(await bridge().call('git_diff_stat', { path })).toMatchObject({
    path,
    files: [
      { file: 'src/auth/middleware.ts', insertions: 8, deletions: 3 },
      { file: 'tests/auth.test.ts', insertions: 1, deletions: 1 },
    ],
    summary: '2 files changed, 9 insertions(+), 4 deletions(-)',
  });
  expect(await bridge().call('git_diff_stat', { path, cached: true })).toMatchObject({
    files: [{ file: 'src/auth/jwt.ts', insertions: 45, deletions: 12 }],
    summary: '1 file changed, 45 insertions(+), 12 deletions(-)',
  });
  const many = await changed('thousands', 'one\n', lines(3_000, 'many'));
  expect(await bridge().call('git_diff_stat', { path: many })).toMatchObject({
    files: [{ file: 'a.txt', insertions: 3_000, deletions: 1 }],
  });
  const same = await changed('same', 'same\n', 'same\n');
  expect(await bridge().call('git_diff_stat', { path: same })).toMatchObject({
    files: [],
    summary: 'No changes',
  });
});

describe('git_diff', () => {
  test('is the full diff as git gives it, of staged changes alone with cached, and says when there is none', async () => {
    const path = bridge().project;
    expect(await bridge().call('git_diff', { path })).toMatchObject({
      path,
      diff: gitIn(path, 'diff'),
      truncated: false,
      message: 'Full diff output.',
    });
    const { diff } = await bridge().call('git_diff', { path, cached: true });
    expect(diff).toBe(gitIn(path, 'diff', '--cached'));
    expect(diff).toContain('diff --git a/src/auth/jwt.ts b/src/auth/jwt.ts');
    const file = join(path, 'src/auth/jwt.ts');
    expect(await bridge().call('git_diff', { path: file, base: 'HEAD' })).toMatchObject({
      diff: gitIn(path, 'diff', 'HEAD', '--', file),
    });
    const same = await changed('same', 'same\n', 'same\n');
    expect(await bridge().call('git_diff', { path: same })).toMatchObject({
      diff: '',
      truncated: false,
      message: 'No changes to show.',
    });
  });

  test('is cut at 32 KB, as clients cut longer answers, says so, names git_diff_stat and goes on by its cursor; so are lists of files', async () => {
    const path = await changed('large', 'one\n', lines(20_000, 'a line of some length'));
    const answer = await bridge().call('git_diff', { path });
    expect(answer).toMatchObject({ truncated: true });
    expect(answer['message']).toMatch(/^Diff truncated.*git_diff_stat/s);
    const bytes = Buffer.byteLength(String(answer['diff']));
    expect(bytes).toBeLessThanOrEqual(DEFAULT_DIFF_BYTES);
    expect(bytes).toBeGreaterThan(1_000);
    const names = Array.from({ length: 500 }, (_, n) => `a-rather-long-name-of-a-file-${n}`);
    await Promise.all(names.map((name) => writeFile(join(path, name), '\u0001'.repeat(100))));
    const status = await bridge().call('git_status', { path });
    expect(status).toMatchObject({ truncated: true, counts: { untracked: 500 } });
    gitIn(path, 'add', '.');
    const first = await bridge().call('git_diff', { path, cached: true });
    expect(first).toMatchObject({ truncated: true, files: 501 });
    const next = await bridge().call('git_diff', { path, cached: true, cursor: first['cursor'] });
    expect(String(next['diff'])).toMatch(/^diff --git /);
    expect(next['diff']).not.toBe(first['diff']);
  });
});

test('git_log and git_show tell a commit: who, what and what it changed', async () => {
  const path = await changed('log', 'one\n', 'two\n');
  gitIn(path, 'commit', '--quiet', '--all', '-m', 'second');
  const commit = gitIn(path, 'rev-parse', 'HEAD').trim();
  expect(await bridge().call('git_log', { path, max_count: 1 })).toMatchObject({
    commits: [{ author: 'T', subject: 'second', commit }],
  });
  const shown = await bridge().call('git_show', { path, revision: 'HEAD' });
  expect(shown).toMatchObject({
    commit,
    commit_message: 'second',
    parents: [gitIn(path, 'rev-parse', 'HEAD~1').trim()],
    summary: '1 file changed, 1 insertion(+), 1 deletion(-)',
    truncated: false,
  });
  expect(shown['diff']).toContain('-one\n+two\n');
  expect(await bridge().refusal('git_show', { path, revision: 'nowhere' })).toMatch(/^REVISION_NOT_FOUND: /);
});

test('each git tool takes the active project, and refuses what is no repository', async () => {
  const path = await bridge().newProject('no-repository');
  await bridge().call('set_active_project', { path: bridge().project });
  for (const tool of ['git_status', 'git_diff_stat', 'git_diff', 'git_log']) {
    expect(await bridge().refusal(tool, { path }), tool).toMatch(/^NOT_A_REPOSITORY: /);
    expect(await bridge().call(tool), tool).toMatchObject({ path: bridge().project });
  }
});
