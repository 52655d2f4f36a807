import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProjectChanges } from '../../../../src/git/state/project-changes.js';
import { ProjectSnapshots } from '../../../../src/git/state/project-snapshots.js';
import { AllowedRoots } from '../../../../src/projects/allowed-roots.js';
import { gitPlace, type GitPlace } from '../../../git/git-harness.js';

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
  const after = await snapshots.after(project, before, sinceMs, signal);
  if (after.state === 'none') throw new Error(after.why);
  return after;
}

async function placeWithCommit(): Promise<GitPlace> {
  const place = await gitPlace();
  await place.write('kept.txt', 'one\ntwo\n');
  await place.write('gone.txt', 'soon\n');
  await place.git('add', '.');
  await place.git('commit', '--quiet', '-m', 'first');
  return place;
}

async function head(place: GitPlace): Promise<string> {
  return (await place.git('rev-parse', 'HEAD')).trim();
}

describe('two snapshots of a project', () => {
  it('report created, changed and deleted files, with their lines', async () => {
    const place = await placeWithCommit();
    const changes = await changesOf(place, async () => {
      await place.write('kept.txt', 'one\nthree\nfour\n');
      await place.write('new/deep.txt', 'x\n');
      await rm(join(place.repo, 'gone.txt'));
    });
    expect(changes.files).toEqual([
      { path: 'gone.txt', change: 'deleted', insertions: 0, deletions: 1 },
      { path: 'kept.txt', change: 'changed', insertions: 2, deletions: 1 },
      { path: 'new/deep.txt', change: 'created' },
    ]);
    expect(changes).toMatchObject({
      files_total: 3,
      insertions: 2,
      deletions: 2,
      uncommitted: 3,
      commits: [],
      dirty_before: { count: 0 },
    });
  });

  it('name changed files that git compares through a filter, which is not run', async () => {
    const place = await gitPlace();
    await writeFile(join(place.homeDir, '.gitconfig'), '[filter "up"]\n\tclean = tr a-z A-Z\n');
    await place.write('.gitattributes', '*.up filter=up\n');
    for (const file of ['a.up', 'b.txt']) await place.write(file, 'text\n');
    await place.git('add', '.');
    await place.git('commit', '--quiet', '-m', 'first');
    const changes = await changesOf(place, async () => {
      for (const file of ['a.up', 'c.up']) await place.write(file, 'other\n');
      await place.write('b.txt', 'other\n');
    });
    expect(changes).toMatchObject({ files_total: 3, filtered: ['a.up'] });
  });

  it('report new commits, even on a branch that is not checked out any more, and no older ones', async () => {
    const place = await placeWithCommit();
    await place.write('old.txt', 'old\n');
    await place.git('add', '.');
    const tree = (await place.git('write-tree')).trim();
    const body = `tree ${tree}\nparent ${await head(place)}\nauthor A <a@b> 1500000000 +0000\ncommitter A <a@b> 1500000000 +0000\n\nsomebody’s\n`;
    await writeFile(join(place.root, 'body'), body);
    const theirs = (await place.git('hash-object', '-t', 'commit', '-w', join(place.root, 'body'))).trim();
    await place.git('reset', '--quiet', '--hard');
    const changes = await changesOf(place, async () => {
      await place.git('merge', '--quiet', theirs);
      await place.write('kept.txt', 'mine\n');
      await place.git('commit', '--quiet', '-am', 'on main');
      await place.git('checkout', '--quiet', '-b', 'side');
      await place.write('side.txt', 'side\n');
      await place.git('add', '.');
      await place.git('commit', '--quiet', '-m', 'on the side');
      await place.git('checkout', '--quiet', 'main');
    });
    expect(changes.commits.map(({ subject }) => subject).sort()).toEqual(['on main', 'on the side']);
    expect(changes).toMatchObject({ commits_total: 2, commits_older: 1, branch: 'main', uncommitted: 0 });
    expect(changes.files.map(({ path }) => path)).toEqual(['kept.txt', 'old.txt']);
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

  it('report a discarded change and a removed uncommitted file', async () => {
    const place = await placeWithCommit();
    await place.write('kept.txt', 'mine\n');
    await place.write('mine.txt', 'mine\n');
    const changes = await changesOf(place, async () => {
      await place.git('checkout', '--', 'kept.txt');
      await rm(join(place.repo, 'mine.txt'));
    });
    expect(changes.files).toEqual([
      { path: 'kept.txt', change: 'changed', dirty_before: true },
      { path: 'mine.txt', change: 'deleted', dirty_before: true },
    ]);
  });

  it('work before the first commit', async () => {
    const place = await gitPlace();
    const changes = await changesOf(place, async () => {
      await place.write('a.txt', 'a\n');
      await place.git('add', '.');
      await place.git('commit', '--quiet', '-m', 'first');
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
    await place.gitIn(folder, 'add', '.');
    await place.gitIn(folder, 'commit', '--quiet', '-m', 'all of it');
    expect(await snapshots.after(folder, undefined, sinceMs, signal)).toMatchObject({
      state: 'repository',
      commits: [{ subject: 'all of it' }],
      files: [],
    });
  });
});
