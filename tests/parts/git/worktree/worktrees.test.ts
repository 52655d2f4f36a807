import { lstat, mkdir, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProjectSnapshots } from '../../../../src/git/state/project-snapshots.js';
import { Worktrees, type FinishReport, type WorktreeFacts } from '../../../../src/git/worktree/worktrees.js';
import { AllowedRoots } from '../../../../src/projects/allowed-roots.js';
import { gitPlace, type GitPlace } from '../../../git/git-harness.js';
import { refusal } from '../../../harness/refusal.js';
import { atFullLength } from '../../../harness/rounds.js';

const { signal } = new AbortController();
const TASK = 'task_0123456789abcdef0123';
const BRANCH = `claude/${TASK}`;
const DELETED = 'The worktree was deleted: what was not committed in it went with it.';

interface Place extends GitPlace {
  readonly worktrees: Worktrees;
  make(folder?: string): Promise<{ readonly folder: string; readonly worktree: WorktreeFacts }>;
  /** `reviewed` is the tree that is there when it is left out. */
  finish(
    worktree: WorktreeFacts,
    action: 'merge' | 'apply' | 'discard',
    reviewed?: string,
    note?: string,
  ): Promise<FinishReport>;
  /** The tree that a receipt names, and what it says. */
  look(worktree: WorktreeFacts): Promise<{ readonly tree: string; readonly doubts: string }>;
  /** HEAD, branches and what git says of the working tree. */
  state(): Promise<string>;
}

async function place(): Promise<Place> {
  const git = await gitPlace();
  await git.git('config', 'user.name', 'Ada');
  await git.git('config', 'user.email', 'ada@example.com');
  await git.write('a', lines('a'));
  await git.write('sub/b', 'b\n');
  await git.write('.gitignore', 'build/\n');
  await git.commit('first');
  const roots = new AllowedRoots([git.projects], git.homeDir);
  const worktrees = new Worktrees({ roots, runner: git.runner });
  const snapshots = new ProjectSnapshots({ roots, runner: git.runner });
  const look: Place['look'] = async ({ path }) => {
    const query = { before: undefined, sinceMs: 0, isWorktree: true };
    const now = await snapshots.after(path, query, signal);
    return now.state === 'none'
      ? { tree: '', doubts: now.why }
      : { tree: now.tree ?? '', doubts: now.doubts.join() };
  };
  return {
    ...git,
    worktrees,
    look,
    make: async (folder = git.repo) =>
      worktrees.create(await roots.resolve(folder), { taskId: TASK, branch: BRANCH }, signal),
    finish: async (worktree, action, reviewed, note) =>
      worktrees.finish(
        worktree,
        {
          action,
          taskId: TASK,
          message: 'What the task did\n',
          note,
          reviewed: reviewed ?? (await look(worktree)).tree,
        },
        signal,
      ),
    state: async () =>
      [
        await git.git('rev-parse', 'HEAD'),
        await git.git('for-each-ref'),
        await git.git('status', '--porcelain=v2'),
        await git.git('diff'),
        await git.git('worktree', 'list'),
      ].join('\n'),
  };
}

function lines(first: string): string {
  return [first, ...Array.from({ length: 20 }, (_, n) => `line ${n}`), ''].join('\n');
}

async function isGone(path: string): Promise<boolean> {
  return lstat(path).then(
    () => false,
    () => true,
  );
}

describe('a worktree for a task', () => {
  it('is at the last commit on a branch of its own, in a folder that git and the project do not see', async () => {
    const here = await place();
    await here.write('a', 'not committed\n');
    await here.write('new', 'x\n');
    const before = await here.git('status', '--porcelain');
    const { folder, worktree } = await here.make();
    expect(folder).toBe(join(here.repo, '.claude', 'worktrees', TASK));
    expect(worktree).toMatchObject({
      branch: BRANCH,
      repository: here.repo,
      path: folder,
      base_commit: (await here.git('rev-parse', 'HEAD')).trim(),
      notes: [expect.stringContaining('(1 changed, 1 untracked): they stay there')],
    });
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe(lines('a'));
    expect(await here.git('status', '--porcelain')).toBe(before);
    expect((await here.gitIn(folder, 'symbolic-ref', '--short', 'HEAD')).trim()).toBe(BRANCH);
  });

  it('has the corresponding folder for a project that is a part of its repository', async () => {
    const here = await place();
    const { folder, worktree } = await here.make(join(here.repo, 'sub'));
    expect(folder).toBe(join(worktree.path, 'sub'));
    await here.write('later/c', '');
    expect(await refusal(here.make(join(here.repo, 'later')))).toMatch(/^PATH_NOT_FOUND: .*last commit/);
    expect(await readdir(join(here.repo, '.claude', 'worktrees'))).toEqual(['.gitignore', TASK]);
  });

  it('is not created without a commit, without a repository, or through a link, and nothing is left behind', async () => {
    const here = await place();
    const empty = join(here.projects, 'empty');
    await mkdir(empty);
    expect(await refusal(here.make(empty))).toMatch(/^NOT_A_REPOSITORY: /);
    await here.gitIn(empty, 'init', '--quiet');
    expect(await refusal(here.make(empty))).toMatch(/^NOT_A_REPOSITORY: .*no commit/);
    expect(await readdir(empty)).toEqual(['.git']);
    await mkdir(join(here.root, 'far'));
    await symlink(join(here.root, 'far'), join(here.repo, '.claude'));
    expect(await refusal(here.make())).toMatch(/^PATH_NOT_ALLOWED: /);
    expect(await readdir(join(here.root, 'far'))).toEqual([]);
    await rm(join(here.repo, '.claude'));
    await here.git('branch', BRANCH);
    const before = await here.git('worktree', 'list');
    expect(await refusal(here.make())).toMatch(/^GIT_FAILED: .*already exists/);
    expect(await here.git('worktree', 'list')).toBe(before);
    expect(await readdir(join(here.repo, '.claude', 'worktrees'))).toEqual(['.gitignore']);
  });

  it('is removed with its branch when it contains no work, and stays when it does', async () => {
    const here = await place();
    const before = await here.state();
    const { folder, worktree } = await here.make();
    await mkdir(join(folder, 'build'));
    expect(await here.worktrees.removeUnlessWork(worktree)).toBe(true);
    expect(await here.state()).toBe(before);
    const again = await here.make();
    await writeFile(join(again.folder, 'untracked'), 'x');
    expect(await here.worktrees.removeUnlessWork(again.worktree)).toBe(false);
    await here.commit('work', again.folder);
    expect(await here.worktrees.removeUnlessWork(again.worktree)).toBe(false);
    // The folder gone by other hands: the commits are on the branch still.
    await rm(again.folder, { recursive: true });
    expect(await here.worktrees.removeUnlessWork(again.worktree)).toBe(false);
    await here.git('merge', '--quiet', BRANCH);
    expect(await here.worktrees.removeUnlessWork(again.worktree)).toBe(true);
    expect(await here.git('branch', '--list', BRANCH)).toBe('');
  });
});

describe('the work of a task', () => {
  async function worked(here: Place): Promise<WorktreeFacts> {
    const { folder, worktree } = await here.make();
    await writeFile(join(folder, 'committed'), 'c\n');
    await here.commit('a commit of the task', folder);
    await writeFile(join(folder, 'a'), lines('changed'));
    await writeFile(join(folder, 'new\nname'), Buffer.from([0, 255, 10]));
    await rm(join(folder, 'sub', 'b'));
    return worktree;
  }

  it('is merged with its uncommitted changes, next to uncommitted changes of other files', async () => {
    const here = await place();
    const worktree = await worked(here);
    await here.write('mine', 'mine\n');
    const { result } = await here.finish(worktree, 'merge');
    expect((await here.git('rev-parse', 'main')).trim()).toBe(result);
    expect(await here.git('log', '--format=%an: %s', '-2')).toBe(
      'Ada: What the task did\nN: a commit of the task\n',
    );
    expect(await here.git('status', '--porcelain')).toBe('?? mine\n');
    expect(await readFile(join(here.repo, 'a'), 'utf8')).toBe(lines('changed'));
    expect(await isGone(join(here.repo, 'sub', 'b'))).toBe(true);
    expect(await isGone(worktree.path)).toBe(true);
    expect(await here.git('branch', '--list', 'claude/*')).toBe('');
    expect((await here.git('worktree', 'list')).trim().split('\n')).toHaveLength(1);
  });

  it('is merged with newer commits of the project', async () => {
    const here = await place();
    const worktree = await worked(here);
    await here.write('theirs', 'x\n');
    await here.commit('theirs');
    const theirs = (await here.git('rev-parse', 'HEAD')).trim();
    const { result } = await here.finish(worktree, 'merge');
    expect((await here.git('rev-list', '--parents', '-1', result)).split(' ')[1]).toBe(theirs);
    expect(await here.git('status', '--porcelain')).toBe('');
    expect(await here.git('log', '-1', '--format=%s')).toBe(`Merge branch '${BRANCH}' into main\n`);
  });

  it.each([false, true])(
    'is merged by a commit that ends with a note, the project having gone on or not: %s',
    async (goesOn) => {
      const here = await place();
      const worktree = await worked(here);
      if (goesOn) await here.write('theirs', 'x\n').then(() => here.commit('theirs'));
      const head = (await here.git('rev-parse', 'HEAD')).trim();
      const { tree } = await here.look(worktree);
      const { result } = await here.finish(worktree, 'merge', tree, 'Checks not met: lint (exit code 1)');
      expect((await here.git('rev-list', '--parents', '-1', result)).split(' ')[1]).toBe(head);
      expect(await here.git('log', '-1', '--format=%B')).toBe(
        `Merge branch '${BRANCH}' into main\n\nChecks not met: lint (exit code 1)\n\n`,
      );
      expect(await here.git('status', '--porcelain')).toBe('');
      expect(await readFile(join(here.repo, 'a'), 'utf8')).toBe(lines('changed'));
    },
  );

  it('is applied as uncommitted changes, next to changed lines, and its commits are preserved', async () => {
    const here = await place();
    const worktree = await worked(here);
    await here.write('a', `${lines('a')}a line at the end\n`);
    const { result } = await here.finish(worktree, 'apply');
    expect(await readFile(join(here.repo, 'a'), 'utf8')).toBe(`${lines('changed')}a line at the end\n`);
    expect(await readFile(join(here.repo, 'new\nname'))).toEqual(Buffer.from([0, 255, 10]));
    expect(await here.git('diff', '--cached', '--name-only')).toBe('');
    expect((await here.git('status', '--porcelain')).split('\n').filter(Boolean).sort()).toEqual([
      ' D sub/b',
      ' M a',
      '?? "new\\nname"',
      '?? committed',
    ]);
    expect(result).toBe(`refs/claude-code-bridge/applied/${TASK}`);
    expect(await here.git('log', '--format=%s', '-2', result)).toBe(
      'What the task did\na commit of the task\n',
    );
    expect(await isGone(worktree.path)).toBe(true);
  });

  it('is brought in as it was reviewed, and in no other form', async () => {
    const here = await place();
    const worktree = await worked(here);
    const { tree } = await here.look(worktree);
    expect(await here.git('diff', '--name-only', 'main', tree)).toBe('a\ncommitted\n"new\\nname"\nsub/b\n');
    const before = await here.state();
    const query = { action: 'merge', taskId: TASK, message: 'x' } as const;
    await expect(here.worktrees.finish(worktree, query, signal)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      hint: expect.stringContaining(`get_task_result ${TASK}`) as unknown,
    });
    const refused = [
      // Another task, or a person, writes there; and what git was told not to look at.
      () => writeFile(join(worktree.path, 'evil.js'), 'evil()\n'),
      () => here.gitIn(worktree.path, 'update-index', '--assume-unchanged', '.gitignore'),
      () => writeFile(join(worktree.path, '.gitignore'), 'build/\n*.log\n'),
    ];
    for (const change of refused) {
      await change();
      for (const action of ['merge', 'apply'] as const)
        expect(await refusal(here.finish(worktree, action, tree))).toMatch(
          new RegExp(`^WORK_DOES_NOT_FIT: .* has changed .* ${tree} was reviewed`),
        );
    }
    expect(await here.state()).toBe(before);
    const again = await here.look(worktree);
    expect(again.tree).not.toBe(tree);
    const { result } = await here.finish(worktree, 'merge', again.tree);
    expect((await here.git('rev-parse', `${result}^{tree}`)).trim()).toBe(again.tree);
    expect(await here.git('show', 'main:.gitignore')).toBe('build/\n*.log\n');
  });

  it('is refused while there are replace refs, grafts or shallow commits that were not there before', async () => {
    const here = await place();
    const [first] = (await here.git('rev-parse', 'HEAD')).split('\n');
    const good = await here.git('commit-tree', '-m', 'there before', 'HEAD^{tree}');
    await here.git('replace', good.trim(), 'HEAD');
    const worktree = await worked(here);
    const { tree } = await here.look(worktree);
    const evil = [
      [() => here.git('replace', `${first}`, good.trim()), () => here.git('replace', '-d', `${first}`)],
      [() => here.write('.git/info/grafts', `${first}\n`), () => here.write('.git/info/grafts', '')],
      [() => here.write('.git/shallow', `${first}\n`), () => rm(join(here.repo, '.git/shallow'))],
    ] as const;
    for (const [make, undo] of evil) {
      await make();
      expect(await refusal(here.finish(worktree, 'merge', tree))).toMatch(
        new RegExp(`^WORK_DOES_NOT_FIT: .*${first}`),
      );
      await undo();
    }
    expect(await here.finish(worktree, 'merge', tree)).toMatchObject({ tree });
  });

  it('of a worktree that was removed by hand is discarded, and what was committed stays as a ref', async () => {
    const here = await place();
    const worktree = await worked(here);
    await here.commit('work', worktree.path);
    const tip = (await here.git('rev-parse', BRANCH)).trim();
    await rm(worktree.path, { recursive: true });
    expect(await refusal(here.finish(worktree, 'merge', 'x'))).toContain(`on the branch ${BRANCH}`);
    const { result, notes } = await here.finish(worktree, 'discard');
    expect((await here.git('rev-parse', result)).trim()).toBe(tip);
    expect(notes).toEqual([DELETED, 'Its branch was removed.']);
    expect(await here.git('branch', '--list', BRANCH)).toBe('');
  });

  it.each([
    ['held no commits of the task and was removed', 'branch', '--list'],
    ['was deleted, too', 'branch', '-D'],
  ])(
    'of a deleted worktree without commits is lost, and that is said: its branch %s',
    async (words, ...git) => {
      const here = await place();
      const { worktree } = await here.make();
      await writeFile(join(worktree.path, 'a'), lines('changed'));
      await rm(worktree.path, { recursive: true });
      await here.git('worktree', 'prune');
      await here.git(...git, BRANCH);
      const refused = await refusal(here.finish(worktree, 'merge', 'x'));
      expect(refused).toMatch(/it was deleted, and there are no commits of the task: discard it\. /);
      const { result, notes } = await here.finish(worktree, 'discard');
      expect(result).toBe('');
      expect(notes).toEqual([DELETED, `Its branch ${words}.`]);
    },
  );

  it('of a worktree without work is none, and that is said', async () => {
    const here = await place();
    const { worktree } = await here.make();
    const { result, notes } = await here.finish(worktree, 'discard');
    expect(result).toBe('');
    expect(notes).toEqual(['The worktree held no work.', 'The worktree and its branch were removed.']);
  });

  it.each(['merge', 'apply'] as const)(
    'is on its branch, whole, when a %s conflicts: a merge by hand has all of it',
    async (action) => {
      const here = await place();
      const worktree = await worked(here);
      await here.write('a', lines('mine'));
      await here.git('commit', '--quiet', '-a', '-m', 'mine');
      const { tree } = await here.look(worktree);
      for (let time = 0; time < 2; time++)
        expect(await refusal(here.finish(worktree, action, tree))).toMatch(/conflicts .* in a\b/);
      expect((await here.git('rev-parse', `${BRANCH}^{tree}`)).trim()).toBe(tree);
      expect(await here.gitIn(worktree.path, 'status', '--porcelain')).toBe('');
      await here.git('merge', '--quiet', '-X', 'theirs', BRANCH);
      expect(await readFile(join(here.repo, 'a'), 'utf8')).toBe(lines('changed'));
      expect(await here.finish(worktree, 'merge', tree)).toMatchObject({
        notes: [expect.stringContaining('nothing to merge'), expect.stringContaining('were removed')],
      });
    },
  );

  it.each(['merge', 'apply', 'discard'] as const)(
    'goes its way at a %s without a repository that has no commit: that stays, and is named with the words of git',
    async (action) => {
      const here = await place();
      const worktree = await worked(here);
      const inner = join(worktree.path, 'inner');
      await here.gitIn(worktree.path, 'init', '--quiet', 'inner');
      await writeFile(join(inner, 'only here'), 'x\n');
      const left = /^Left out of the work: inner\/, since .*'inner\/' does not have a commit checked out/;
      expect((await here.look(worktree)).doubts).toMatch(left);
      const { notes } = await here.finish(worktree, action);
      expect(notes).toEqual([expect.stringMatching(left)]);
      expect(await readFile(join(inner, 'only here'), 'utf8')).toBe('x\n');
      expect(await here.worktrees.removeUnlessWork(worktree)).toBe(false);
      if (action !== 'discard') expect(await readFile(join(here.repo, 'a'), 'utf8')).toBe(lines('changed'));
    },
  );

  it('is preserved by a ref when it is discarded, including commits of an abandoned branch', async () => {
    const here = await place();
    const worktree = await worked(here);
    await here.gitIn(worktree.path, 'stash', '--quiet', '--include-untracked');
    await here.gitIn(worktree.path, 'checkout', '--quiet', '--detach', 'main');
    await writeFile(join(worktree.path, 'other'), 'o\n');
    expect(await refusal(here.finish(worktree, 'merge'))).toMatch(/^WORK_DOES_NOT_FIT: The branch/);
    const main = (await here.git('rev-parse', 'HEAD')).trim();
    const { result } = await here.finish(worktree, 'discard');
    expect(result).toBe(`refs/claude-code-bridge/discarded/${TASK}`);
    expect(await here.git('show', `${result}:other`)).toBe('o\n');
    expect(await here.git('log', '--format=%s', result)).toContain('a commit of the task');
    expect((await here.git('rev-parse', 'HEAD')).trim()).toBe(main);
    expect(await here.git('status', '--porcelain')).toBe('');
    expect([await isGone(worktree.path), await here.git('branch', '--list', 'claude/*')]).toEqual([true, '']);
  });

  it('is brought in without running hooks, filters and merge drivers, and reported where that matters', async () => {
    const here = await place();
    const canary = join(here.root, 'canary');
    for (const hook of [
      'pre-commit',
      'post-commit',
      'post-checkout',
      'post-merge',
      'pre-merge-commit',
      'reference-transaction',
    ])
      await writeFile(join(here.repo, '.git', 'hooks', hook), `#!/bin/sh\ntouch '${canary}'\n`, {
        mode: 0o755,
      });
    await here.git('config', 'merge.evil.driver', `touch '${canary}'`);
    await here.git('config', 'filter.evil.clean', `touch '${canary}'; cat`);
    await here.git('config', 'filter.evil.smudge', `touch '${canary}'; cat`);
    await writeFile(join(here.repo, '.git', 'info', 'attributes'), 'a merge=evil\n*.big filter=evil\n');
    const { worktree } = await here.make();
    expect(worktree.notes.join()).toContain('Git filters');
    await writeFile(join(worktree.path, 'a'), lines('a').replace('line 19', 'task'));
    await here.write('a', lines('mine'));
    await here.git('-c', 'core.hooksPath=/dev/null', 'commit', '--quiet', '-a', '-m', 'mine');
    expect(await refusal(here.finish(worktree, 'merge'))).toMatch(/^WORK_DOES_NOT_FIT: .*conflicts/);
    await writeFile(join(worktree.path, 'a'), lines('a'));
    await writeFile(join(worktree.path, 'x.big'), 'big\n');
    expect(await refusal(here.finish(worktree, 'merge'))).toMatch(/^WORK_DOES_NOT_FIT: .*filter.*x\.big/);
    await here.finish(worktree, 'discard');
    expect(await isGone(canary)).toBe(true);
  });

  it('is not read from another place that the .git of the worktree points to', async () => {
    const here = await place();
    const worktree = await worked(here);
    const other = join(here.projects, 'other');
    await here.gitIn(here.projects, 'init', '--quiet', other);
    await writeFile(join(worktree.path, '.git'), `gitdir: ${other}/.git\n`);
    expect(await refusal(here.finish(worktree, 'discard'))).toMatch(/^NOT_A_REPOSITORY: .*leads to/);
    expect(await here.worktrees.removeUnlessWork(worktree)).toBe(false);
    expect(await isGone(worktree.path)).toBe(false);
  });

  if (atFullLength) {
    it.each(['merge', 'apply'] as const)(
      'stays in the worktree when a %s would overwrite, and nothing changes',
      async (action) => {
        const here = await place();
        const worktree = await worked(here);
        // The first refusal puts the work on its branch.
        await here.write('a', lines('mine'));
        await refusal(here.finish(worktree, action));
        // An uncommitted change to the same file.
        let before = await here.state();
        expect(await refusal(here.finish(worktree, action))).toMatch(/^WORK_DOES_NOT_FIT: .*\ba\b/);
        expect(await here.state()).toBe(before);
        await here.git('reset', '--quiet', '--hard');
        // A file that git does not know.
        await here.write('committed', 'mine, and ignored\n');
        await writeFile(join(here.repo, '.git', 'info', 'exclude'), 'committed\n');
        before = await here.state();
        expect(await refusal(here.finish(worktree, action))).toMatch(/^WORK_DOES_NOT_FIT: .*committed/);
        expect(await readFile(join(here.repo, 'committed'), 'utf8')).toBe('mine, and ignored\n');
        expect(await here.state()).toBe(before);
      },
    );

    it('is not finished during a merge, on a detached head, or with other repositories in it', async () => {
      const here = await place();
      const worktree = await worked(here);
      await here.gitIn(worktree.path, 'commit', '--quiet', '-a', '-m', 'all');
      await here.git('checkout', '--quiet', '--detach');
      expect(await refusal(here.finish(worktree, 'merge'))).toMatch(/^WORK_DOES_NOT_FIT: .*detached/);
      await here.git('checkout', '--quiet', 'main');
      await here.gitIn(worktree.path, 'init', '--quiet', 'inner');
      await here.gitIn(join(worktree.path, 'inner'), 'commit', '--quiet', '--allow-empty', '-m', 'inner');
      for (const action of ['merge', 'apply', 'discard'] as const)
        expect(await refusal(here.finish(worktree, action))).toMatch(/^WORK_DOES_NOT_FIT: .*inner/);
      await rm(join(worktree.path, 'inner'), { recursive: true });
      await here.write('a', lines('mine'));
      await here.git('commit', '--quiet', '-a', '-m', 'mine');
      await here.gitIn(worktree.path, 'merge', 'main').catch(() => 'the conflict that is wanted');
      expect(await refusal(here.finish(worktree, 'merge'))).toMatch(/^WORK_DOES_NOT_FIT: .*MERGE_HEAD/);
      const { result } = await here.finish(worktree, 'discard');
      expect(await here.git('show', `${result}:a`)).toContain('<<<<<<<');
    });
  }
});
