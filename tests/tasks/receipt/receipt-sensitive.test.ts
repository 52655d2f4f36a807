import { describe, expect, it } from 'vitest';
import { sensitiveFiles } from '../../../src/tasks/receipt/receipt.js';
import type { GitReport, SeenFile } from '../../../src/tasks/receipt/receipt.js';
import { sampleGitReport } from '../sample-task.js';

const PROJECT = '/home/ann/app';

const git = (paths: readonly string[], ...ignored: string[]): GitReport =>
  sampleGitReport({ files: paths.map((path) => ({ path, change: 'created' })), ignored });

const seen = (...paths: string[]): SeenFile[] => paths.map((path) => ({ path, change: 'changed' }));

describe('files of a receipt that a person should look at', () => {
  it('are those that tools wrote and those that git saw, by both lists, each once', () => {
    const files = seen('src/a.ts', 'CLAUDE.md', '/home/ann/.ssh/config');
    expect(sensitiveFiles(PROJECT, files, git(['CLAUDE.md', 'config/credentials.json', 'src/b.ts']))).toEqual(
      [
        { path: 'CLAUDE.md', why: 'runs or instructs later' },
        { path: '/home/ann/.ssh/config', why: 'holds secrets by its name' },
        { path: 'config/credentials.json', why: 'holds secrets by its name' },
      ],
    );
  });

  it('are named from the project also where the repository begins above it', () => {
    const project = `${PROJECT}/packages/web`;
    expect(sensitiveFiles(project, [], git(['packages/web/.envrc'], '.gitlab-ci.yml'))).toEqual([
      { path: '.envrc', why: 'holds secrets by its name' },
      { path: `${PROJECT}/.gitlab-ci.yml`, why: 'runs or instructs later' },
    ]);
  });

  it('are not the plans that Claude Code writes into its own folder', () => {
    const files = seen('/home/ann/.claude/plans/a-plan.md', '/home/ann/.claude/settings.json');
    const others = seen('.claude/plans/b.md', '/home/ann/.claude/plans/deeper/c.md');
    const none: GitReport = { state: 'none', why: 'no repository' };
    const named = sensitiveFiles(PROJECT, [...files, ...others], none, '/home/ann/.claude');
    expect(named.map(({ path }) => path)).toEqual([
      '/home/ann/.claude/settings.json',
      '.claude/plans/b.md',
      '/home/ann/.claude/plans/deeper/c.md',
    ]);
  });

  it('are none without a repository and without writes', () => {
    expect(sensitiveFiles(PROJECT, [], { state: 'none', why: 'no repository' })).toEqual([]);
  });
});
