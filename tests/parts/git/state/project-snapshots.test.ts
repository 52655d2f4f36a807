import { chmod, mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProjectChanges } from '../../../../src/git/state/snapshot-schema.js';
import { ProjectSnapshots } from '../../../../src/git/state/project-snapshots.js';
import { AllowedRoots } from '../../../../src/projects/allowed-roots.js';
import { gitPlace, type GitPlace } from '../../../git/git-harness.js';
import { until } from '../../../harness/until.js';

const signal = new AbortController().signal;

function snapshotsOf(place: GitPlace): ProjectSnapshots {
  const roots = new AllowedRoots([place.projects], place.homeDir);
  return new ProjectSnapshots({ roots, runner: place.runner });
}

/** What two looks find different when `work` is done between them. */
async function changesOf(
  place: GitPlace,
  work: () => Promise<unknown>,
  project = place.repo,
): Promise<ProjectChanges> {
  const snapshots = snapshotsOf(place);
  const sinceMs = Date.now();
  const before = await snapshots.before(project, signal);
  if (before.state === 'none') throw new Error(before.why);
  await work();
  const after = await snapshots.after(project, { before, sinceMs, isWorktree: false }, signal);
  if (after.state === 'none') throw new Error(after.why);
  return after;
}

async function placeWithCommit(): Promise<GitPlace> {
  const place = await gitPlace();
  await place.write('kept.txt', 'one\ntwo\n');
  await place.write('gone.txt', 'soon\n');
  await place.commit('first');
  return place;
}

/** Ignores files by a rule that is in no file of the repository, and runs git. */
async function ignored(place: GitPlace, ...args: string[]): Promise<void> {
  await place.write('.git/info/exclude', 'kept.txt\ndeep/\n');
  await place.git(...args);
}

async function head(place: GitPlace): Promise<string> {
  return (await place.git('rev-parse', 'HEAD')).trim();
}

describe('two snapshots of a project', () => {
  it('report created, changed and deleted files, with their lines, changed modes and the targets of links', async () => {
    const place = await placeWithCommit();
    await symlink('kept.txt', join(place.repo, 'link'));
    await place.commit('second');
    const changes = await changesOf(place, async () => {
      await place.write('kept.txt', 'one\nthree\nfour\n');
      await chmod(join(place.repo, 'kept.txt'), 0o755);
      await place.write('new/deep.txt', 'x\n');
      for (const file of ['gone.txt', 'link']) await rm(join(place.repo, file));
      await symlink('../else', join(place.repo, 'link'));
    });
    const modes = { old_mode: '100644', new_mode: '100755' };
    expect(changes.files).toEqual([
      { path: 'gone.txt', change: 'deleted', insertions: 0, deletions: 1 },
      { path: 'kept.txt', change: 'changed', insertions: 2, deletions: 1, ...modes },
      { path: 'link', change: 'changed', insertions: 1, deletions: 1, link: '../else' },
      { path: 'new/deep.txt', change: 'created' },
    ]);
    expect(changes).toMatchObject({
      files_total: 4,
      insertions: 3,
      deletions: 3,
      uncommitted: 4,
      commits: [],
      dirty_before: { count: 0 },
    });
  });

  it('name changed files that git compares through a filter, which is not run', async () => {
    const place = await gitPlace();
    await writeFile(join(place.homeDir, '.gitconfig'), '[filter "up"]\n\tclean = tr a-z A-Z\n');
    await place.write('.gitattributes', '*.up filter=up\n');
    for (const file of ['a.up', 'b.txt']) await place.write(file, 'text\n');
    await place.commit('first');
    const changes = await changesOf(place, async () => {
      for (const file of ['a.up', 'c.up']) await place.write(file, 'other\n');
      await place.write('b.txt', 'other\n');
    });
    expect(changes).toMatchObject({ files_total: 3, filtered: ['a.up'] });
  });

  it('report the commits that are new on the branch, whatever their dates say, and none of other branches', async () => {
    const place = await placeWithCommit();
    await place.git('branch', 'other');
    const changes = await changesOf(place, async () => {
      await place.write('kept.txt', 'mine\n');
      await place.git('commit', '--quiet', '-am', 'by a branch that was there');
      await place.git('branch', '--force', 'other');
      await place.write('old.txt', 'x\n');
      await place.git('add', '.');
      const tree = (await place.git('write-tree')).trim();
      const body = `tree ${tree}\nparent ${await head(place)}\nauthor A <a@b> 1500000000 +0000\ncommitter A <a@b> 1500000000 +0000\n\nold\n`;
      await writeFile(join(place.root, 'body'), body);
      const old = await place.git('hash-object', '-t', 'commit', '-w', join(place.root, 'body'));
      await place.git('reset', '--quiet', '--hard', old.trim());
      await place.git('checkout', '--quiet', '-b', 'side');
      await place.git('commit', '--quiet', '--allow-empty', '-m', 'on the side');
      await place.git('checkout', '--quiet', 'main');
    });
    expect(changes.commits.map(({ subject }) => subject).sort()).toEqual([
      'by a branch that was there',
      'old',
    ]);
    expect(changes).toMatchObject({ commits_total: 2, branch: 'main', uncommitted: 0 });
    expect(changes.files.map(({ path }) => path)).toEqual(['kept.txt', 'old.txt']);
  });

  it.each<[how: string, hide: (place: GitPlace) => Promise<unknown>]>([
    ['a flag to skip it', (place) => place.git('update-index', '--skip-worktree', 'kept.txt')],
    ['a flag that it is unchanged', (place) => place.git('update-index', '--assume-unchanged', 'kept.txt')],
    [
      'taking it out of the index and ignoring it',
      (place) => ignored(place, 'rm', '--cached', '-q', 'kept.txt'),
    ],
    [
      'false times in the index',
      async (place) => {
        const file = join(place.repo, 'kept.txt');
        const { atime, mtime } = await stat(file);
        await place.git('config', 'core.checkStat', 'minimal');
        await place.git('config', 'core.trustctime', 'false');
        await writeFile(file, 'one\nTWO\n');
        await utimes(file, atime, mtime);
      },
    ],
    [
      'a sparse checkout',
      async (place) => {
        await place.git('update-index', '--skip-worktree', 'kept.txt');
        await place.git('config', 'core.sparseCheckout', 'true');
      },
    ],
  ])('report a changed file that is hidden by %s', async (_how, hide) => {
    const place = await placeWithCommit();
    const changes = await changesOf(place, async () => {
      await hide(place);
      await place.write('kept.txt', 'one\nTWO\n');
    });
    expect(changes.files).toMatchObject([{ path: 'kept.txt', change: 'changed' }]);
  });

  it('report what is in the index or in a commit alone, and a deleted file that git was told to skip', async () => {
    const place = await placeWithCommit();
    const kept = 'one\ntwo\n';
    const staged = await changesOf(place, async () => {
      await place.write('kept.txt', 'staged\n');
      await place.git('add', '.');
      await place.write('kept.txt', kept);
      await place.git('update-index', '--assume-unchanged', 'kept.txt');
      await place.git('update-index', '--skip-worktree', 'gone.txt');
      await rm(join(place.repo, 'gone.txt'));
    });
    expect(staged.files.map(({ path, change }) => `${path} ${change}`)).toEqual([
      'gone.txt deleted',
      'kept.txt changed',
    ]);
    await place.git('read-tree', 'HEAD');
    await place.git('checkout-index', '--all', '--force');
    const committed = await changesOf(place, async () => {
      await place.write('kept.txt', 'committed\n');
      await place.git('commit', '--quiet', '-am', 'it');
      await place.write('kept.txt', kept);
    });
    expect(committed.files).toEqual([{ path: 'kept.txt', change: 'changed' }]);
  });

  it('report ignored files that hold secrets or instruct, written or moved there meanwhile, and no other ones', async () => {
    const place = await placeWithCommit();
    await ignored(place, 'status');
    await place.write('deep/er/.env', 'OLD=1\n');
    await place.write('deep/moved', 'x\n');
    // Times of files have ticks.
    const before = (await stat(join(place.repo, 'deep/er/.env'))).ctimeMs;
    await until('the clock goes on', () => Date.now() > before + 100);
    const changes = await changesOf(place, async () => {
      await place.write('deep/CLAUDE.md', 'do\n');
      await place.write('deep/plain.txt', 'x\n');
      await rename(join(place.repo, 'deep/moved'), join(place.repo, 'deep/.envrc'));
      await utimes(join(place.repo, 'deep/CLAUDE.md'), 1, 1);
    });
    expect(changes.ignored).toEqual(['deep/.envrc', 'deep/CLAUDE.md'].map((file) => join(place.repo, file)));
    expect(changes.files).toEqual([]);
  });

  it('say what makes git show something else than is there, and read what is there', async () => {
    const place = await placeWithCommit();
    const first = await head(place);
    const changes = await changesOf(place, async () => {
      await place.write('kept.txt', 'evil\n');
      await place.git('commit', '--quiet', '-am', 'evil');
      await place.git('replace', first, 'HEAD');
      await place.git('config', 'core.ignoreCase', 'true');
      await place.write('.git/info/grafts', `${await head(place)}\n`);
    });
    expect(changes.doubts).toEqual([
      expect.stringMatching(new RegExp(`refs/replace/${first} .*graft `)),
      expect.stringContaining('core.ignorecase'),
    ]);
    expect(changes).toMatchObject({ commits: [{ subject: 'evil' }], files: [{ path: 'kept.txt' }] });
  });

  it('name other branches that are new, moved or gone, and the stash, and list commits all the same', async () => {
    const place = await placeWithCommit();
    for (const name of ['same', 'moved', 'gone']) await place.git('branch', name);
    await place.git('commit', '--quiet', '--allow-empty', '-m', 'second');
    await place.git('branch', '--force', 'gone');
    await place.git('reset', '--quiet', '--hard', 'HEAD~1');
    const changes = await changesOf(place, async () => {
      await place.git('branch', '--delete', '--force', 'gone');
      await place.git('reflog', 'expire', '--expire=now', '--all');
      await place.git('gc', '--quiet', '--prune=now');
      await place.git('commit', '--quiet', '--allow-empty', '-m', 'mine');
      for (const name of ['moved', 'hidden']) await place.git('branch', '--force', name);
      await place.write('kept.txt', 'hidden\n');
      await place.git('stash', '--quiet');
    });
    expect(changes.commits).toMatchObject([{ subject: 'mine' }]);
    expect(changes.doubts).toEqual([
      'Other branches that have changed since the task began, whoever changed them: gone (gone), moved (moved), hidden (new), stash (new).',
    ]);
  });

  it('say that the repository was made again, or borrows from outside of the roots', async () => {
    const place = await placeWithCommit();
    const first = await head(place);
    const remade = changesOf(place, async () => {
      await rm(join(place.repo, '.git'), { recursive: true });
      await place.git('init', '--quiet');
      await place.commit('all that was there');
    });
    await expect(remade).rejects.toThrow(`has no commit ${first} any more, with which the task began`);
    const alternates = join(place.repo, '.git/objects/info/alternates');
    const borrowing = changesOf(place, () => writeFile(alternates, `${place.root}\n`));
    await expect(borrowing).rejects.toThrow(`Path '${place.root}' is not within allowed roots`);
  });

  it('separate files that were uncommitted before: untouched, changed further, and committed', async () => {
    const place = await placeWithCommit();
    await place.write('kept.txt', 'mine\n');
    await place.write('swept.txt', 'mine\n');
    await place.write('notes/mine.txt', 'mine\n');
    await place.write('again.txt', 'mine\n');
    const changes = await changesOf(place, async () => {
      await place.git('add', 'swept.txt');
      await place.git('commit', '--quiet', '-m', 'sweeps');
      await place.write('again.txt', 'not only mine\n');
      await place.write('notes/other.txt', 'new\n');
    });
    expect(changes.dirty_before).toEqual({
      count: 4,
      untouched: ['kept.txt', 'notes/mine.txt'],
      changed: ['again.txt'],
      committed: ['swept.txt'],
    });
    expect(changes.files).toEqual([
      { path: 'again.txt', change: 'changed', dirty_before: true },
      { path: 'notes/other.txt', change: 'created' },
    ]);
  });

  it('work before the first commit', async () => {
    const place = await gitPlace();
    const changes = await changesOf(place, async () => {
      await place.write('a.txt', 'a\n');
      await place.commit('first');
    });
    expect(changes.files).toEqual([{ path: 'a.txt', change: 'created', insertions: 1, deletions: 0 }]);
    expect(changes.commits).toMatchObject([{ subject: 'first', commit: changes.head }]);
  });

  it('are limited to the part of the repository that is the project', async () => {
    const place = await placeWithCommit();
    await mkdir(join(place.repo, 'part'));
    const changes = await changesOf(
      place,
      async () => {
        await place.write('part/in.txt', 'x\n');
        await place.write('out.txt', 'x\n');
      },
      join(place.repo, 'part'),
    );
    expect(changes.files).toEqual([{ path: 'part/in.txt', change: 'created' }]);
  });

  it('report the commits of a new repository, but not which of its files are new', async () => {
    const place = await gitPlace();
    const folder = join(place.projects, 'plain');
    await mkdir(folder);
    await writeFile(join(folder, 'was-there.txt'), 'x\n');
    const snapshots = snapshotsOf(place);
    const sinceMs = Date.now();
    expect(await snapshots.before(folder, signal)).toMatchObject({ state: 'none' });
    await place.gitIn(folder, 'init', '--quiet');
    await place.commit('all of it', folder);
    const query = { before: undefined, sinceMs, isWorktree: false };
    expect(await snapshots.after(folder, query, signal)).toMatchObject({
      state: 'repository',
      commits: [{ subject: 'all of it' }],
      files: [],
    });
  });
});
