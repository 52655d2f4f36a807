import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { execFileSync } from 'node:child_process';

describe('the git tools', () => {
  it('make a repository and tell what changed in it', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const { project } = bridge;
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=N', '-c', 'user.email=n@example.com', ...args], {
        cwd: project,
        env: bridge.env,
        encoding: 'utf8',
      });
    expect(
      await bridge.call('init_git_repo', { path: project, initial_branch: 'main', gitignore: true }),
    ).toMatchObject({ path: project, initialized: true, branch: 'main', gitignore: 'written' });
    await bridge.call('set_active_project', { path: project });
    expect(await bridge.call('git_status')).toMatchObject({
      path: project,
      clean: false,
      branch: 'main',
      head: null,
      untracked: ['.gitignore'],
      truncated: false,
    });
    await mkdir(join(project, 'src'));
    await writeFile(join(project, 'src', 'a.txt'), 'one\n');
    git('add', '.');
    expect(await bridge.call('git_diff_stat', { cached: true, path: join(project, 'src') })).toMatchObject({
      files: [{ file: 'src/a.txt', insertions: 1, deletions: 0 }],
      summary: '1 file changed, 1 insertion(+)',
      omitted_files: 0,
    });
    git('commit', '--quiet', '-m', 'first');
    await writeFile(join(project, 'src', 'a.txt'), 'two\n');
    const diff = await bridge.call('git_diff', {});
    expect(diff).toMatchObject({ truncated: false, files: 1, message: 'Full diff output.' });
    expect(diff['diff']).toBe(git('diff'));
    expect(
      await bridge.call('git_diff', { base: 'HEAD', path: join(project, 'src', 'a.txt') }),
    ).toMatchObject({
      diff: git('diff'),
    });
    expect(await bridge.call('git_diff', { cached: true })).toMatchObject({
      diff: '',
      message: 'No changes to show.',
    });
    const log = await bridge.call('git_log', { max_count: 1 });
    expect(log).toMatchObject({
      commits: [{ author: 'N', subject: 'first', commit: git('rev-parse', 'HEAD').trim() }],
    });
    expect(await bridge.call('git_show', { revision: 'HEAD', path: join(project, 'src') })).toMatchObject({
      commit_message: 'first',
      parents: [],
      summary: '1 file changed, 1 insertion(+)',
      truncated: false,
    });
    expect(await bridge.refusal('git_show', { revision: 'nowhere' })).toMatch(/^REVISION_NOT_FOUND: /);
    expect(await bridge.refusal('git_status', { path: '/' })).toMatch(/^PATH_NOT_ALLOWED: /);
  });

  it('keep every answer small: pages of a large patch, lists of many files', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const { project } = bridge;
    await bridge.call('init_git_repo', { path: project });
    const names = Array.from({ length: 3_000 }, (_, n) => `a-rather-long-name-of-a-file-${n}`);
    await Promise.all(names.map((name) => writeFile(join(project, name), '\u0001'.repeat(100))));
    const status = await bridge.call('git_status', { path: project });
    expect(status).toMatchObject({ truncated: true, counts: { untracked: 3_000 } });
    expect(JSON.stringify(status).length).toBeLessThan(20_000);
    execFileSync('git', ['add', '.'], { cwd: project, env: bridge.env });
    const diff = await bridge.call('git_diff', { path: project, cached: true });
    expect(diff).toMatchObject({ truncated: true, files: 3_000 });
    expect(String(diff['diff']).length).toBeLessThanOrEqual(32_768);
    const next = await bridge.call('git_diff', { path: project, cached: true, cursor: diff['cursor'] });
    expect(String(next['diff']).startsWith('diff --git ')).toBe(true);
    const identity = ['-c', 'user.name=N', '-c', 'user.email=n@example.com'];
    execFileSync('git', [...identity, 'commit', '--quiet', '-m', 'many'], { cwd: project, env: bridge.env });
    const shown = await bridge.call('git_show', { path: project, revision: 'HEAD' });
    expect(shown).toMatchObject({ truncated: true, commit_message: 'many', parents: [] });
    expect(String(shown['diff']).length + JSON.stringify(shown['files']).length).toBeLessThanOrEqual(32_768);
    const more = await bridge.call('git_show', { path: project, revision: 'HEAD', cursor: shown['cursor'] });
    expect(more).toMatchObject({ commit: shown['commit'], truncated: true });
    expect(more).not.toHaveProperty('commit_message');
    expect(String(more['diff']).startsWith('diff --git ')).toBe(true);
  });
});
