import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, readFile, readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ProjectSnapshots } from '../../../../src/git/state/project-snapshots.js';
import { undoChanges, type UndoReport } from '../../../../src/git/state/undo-changes.js';
import { gitPlace, type GitPlace } from '../../../git/git-harness.js';
import { testedGits } from '../../../harness/gits.js';
import { refusal } from '../../../harness/refusal.js';

const { signal } = new AbortController();
const ABC = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
const lines = (...changed: readonly (readonly [number, string])[]): string =>
  ABC.with(0, 'a')
    .map((line, at) => `${changed.find(([place]) => place === at)?.[1] ?? line}\n`)
    .join('');

interface Undoing extends GitPlace {
  /** What a task does between the two stored trees. */
  task(work: () => Promise<unknown>, project?: string): Promise<void>;
  /** `free`: the bytes that the disk has left; left out, as it is. */
  undo(free?: number): Promise<UndoReport>;
  /** Every file, link and folder with its content, but those of git. */
  files(): Promise<Record<string, string>>;
}

async function undoing(gitFolder?: string): Promise<Undoing> {
  const place = await gitPlace({ gitFolder });
  const { repo, root } = place;
  await place.write('kept.txt', lines());
  await place.write('gone.txt', 'soon\n');
  await place.write('sub/deep.txt', 'deep\n');
  await place.write('away/file', 'soon\n');
  await place.write('.gitignore', 'build/\n');
  await symlink('kept.txt', join(repo, 'link'));
  await place.commit('first');
  const snapshots = new ProjectSnapshots(place.parts);
  const objects = join(root, 'state', 'objects');
  let trees = { start: '', end: '', notKept: '' };
  return {
    ...place,
    task: async (work, project = repo) => {
      const before = await snapshots.before(project, signal, objects);
      await work();
      if (before.state === 'none') throw new Error(before.why);
      const look = { before, sinceMs: 0, isWorktree: false, objects };
      const after = await snapshots.after(project, look, signal);
      if (after.state === 'none') throw new Error(after.why);
      trees = { start: before.tree ?? '', end: after.tree ?? '', notKept: after.doubts.join(' ') };
      expect(trees.notKept).not.toContain('cannot be undone');
    },
    undo: (free) =>
      undoChanges(
        { ...place.parts, ...(free !== undefined && { freeBytes: () => Promise.resolve(free) }) },
        { repository: repo, ...trees, objects },
      ),
    files: () => filesOf(repo),
  };
}

async function filesOf(top: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(top, { recursive: true })) {
    if (/(?:^|\/)\.git(?:\/|$)/.test(name)) continue;
    const path = join(top, name);
    const facts = await lstat(path);
    if (facts.isSymbolicLink()) found[name] = `-> ${await readlink(path)}`;
    else if (facts.isDirectory()) found[name] = 'folder';
    else if (!facts.isFile()) found[name] = 'no file';
    else found[name] = `${(facts.mode & 0o111) === 0 ? '' : 'x '}${await readFile(path, 'latin1')}`;
  }
  return found;
}

/** All kinds of changes, committed and not. */
async function workOfAll({ repo, write, git }: GitPlace): Promise<void> {
  await write('kept.txt', lines([4, 'E']));
  await chmod(join(repo, 'kept.txt'), 0o755);
  await rm(join(repo, 'gone.txt'));
  await git('add', '--all');
  await git('commit', '--quiet', '-m', 'of the task');
  await rename(join(repo, 'sub', 'deep.txt'), join(repo, 'sub', 'moved.txt'));
  await rm(join(repo, 'link'));
  await symlink('sub', join(repo, 'link'));
  await write('new/folder/file.bin', Buffer.from([0, 1, 2, 255]));
  await write('build/out', 'ignored\n');
}

describe.each(testedGits())('an undo by $version', ({ folder }) => {
  it('takes back all kinds of changes in the files, also uncommitted ones of before, and leaves commits, index and ignored files', async () => {
    const place = await undoing(folder);
    await place.write('kept.txt', lines([8, 'mine, uncommitted']));
    await place.write('mine.txt', 'untracked before\n');
    await place.write('staged.txt', 'staged before\n');
    await place.git('add', 'staged.txt');
    const before = await place.files();
    await place.task(async () => {
      await place.write('kept.txt', lines([0, 'A'], [8, 'mine, uncommitted']));
      await place.write('mine.txt', 'changed by the task\n');
      await workOfAll(place);
    });
    const [head, index] = [await place.git('rev-parse', 'HEAD'), await place.git('ls-files', '--stage')];
    const report = await place.undo();
    expect(await place.files()).toEqual({
      ...before,
      build: 'folder',
      'build/out': 'ignored\n',
      new: 'folder',
      'new/folder': 'folder',
      'new/folder/file.bin': Buffer.from([0, 1, 2, 255]).toString('latin1'),
      'sub/moved.txt': 'deep\n',
    });
    expect(report.files).toHaveLength(5);
    expect(report.left).toEqual([
      expect.stringMatching(/^New files stay.*: new\/folder\/file\.bin, sub\/moved\.txt\.$/),
    ]);
    expect([await place.git('rev-parse', 'HEAD'), await place.git('ls-files', '--stage')]).toEqual([
      head,
      index,
    ]);
    // Nothing of it was written into the repository.
    expect(await place.git('count-objects', '-v')).toContain('garbage: 0');
    expect(await place.git('for-each-ref')).toMatch(/^\S+ commit\trefs\/heads\/main\n$/);
    expect(await place.undo()).toEqual({ files: [], left: report.left });
  });

  it('keeps who may read and write a file', async () => {
    const place = await undoing(folder);
    const [secret, script] = [join(place.repo, 'kept.txt'), join(place.repo, 'sub', 'deep.txt')];
    await chmod(secret, 0o600);
    await chmod(script, 0o640);
    await place.task(async () => {
      await place.write('kept.txt', lines([0, 'A']));
      await chmod(script, 0o750);
    });
    expect(await place.undo()).toMatchObject({ files: ['kept.txt', 'sub/deep.txt'] });
    expect((await lstat(secret)).mode & 0o777).toBe(0o600);
    expect((await lstat(script)).mode & 0o777).toBe(0o640);
  });

  it('changes nothing on a disk that is nearly full, nor where the project was replaced by a link', async () => {
    const place = await undoing(folder);
    await place.task(() => place.write('kept.txt', lines([0, 'A'])));
    const before = await place.files();
    const free = 256 * 1024 * 1024;
    expect(await refusal(place.undo(free - 1))).toMatch(/^WORK_DOES_NOT_FIT: .*less than 256 MB left/);
    await rename(place.repo, `${place.repo}-moved`);
    expect(await refusal(place.undo())).toMatch(/^WORK_DOES_NOT_FIT: .*is no longer there/);
    await symlink(`${place.repo}-moved`, place.repo);
    expect(await refusal(place.undo())).toMatch(/^WORK_DOES_NOT_FIT: .*was replaced by a link/);
    await rm(place.repo);
    await rename(`${place.repo}-moved`, place.repo);
    expect(await place.files()).toEqual(before);
    expect(await place.undo(free)).toMatchObject({ files: ['kept.txt'] });
  });

  it('keeps what others changed since: other lines, other files, a commit, another branch', async () => {
    const place = await undoing(folder);
    await place.task(async () => {
      await place.write('kept.txt', lines([0, 'A']));
      await place.write('new.txt', 'new\n');
    });
    await place.write('kept.txt', lines([0, 'A'], [8, 'I']));
    await place.git('switch', '--quiet', '-c', 'another');
    await place.git('commit', '--quiet', '--all', '-m', 'of a person');
    await place.write('later.txt', 'later\n');
    await place.write('gone.txt', 'changed later\n');
    expect(await place.undo()).toMatchObject({ files: ['kept.txt'] });
    expect(await place.files()).toMatchObject({
      'kept.txt': lines([8, 'I']),
      'later.txt': 'later\n',
      'gone.txt': 'changed later\n',
      'new.txt': 'new\n',
    });
  });

  it.each<[string, (place: Undoing) => Promise<unknown>, string?]>([
    ['the same lines changed', ({ write }) => write('kept.txt', lines([0, 'later'])), 'kept.txt'],
    [
      'a deleted file came back with another content',
      ({ write }) => write('gone.txt', 'later\n'),
      'gone.txt',
    ],
    ['a folder is where a file was', ({ write }) => write('gone.txt/mine', 'x\n')],
    ['a pipe is where a file was', ({ repo }) => promisify(execFile)('mkfifo', [join(repo, 'gone.txt')])],
    [
      'a link leads to where the files were',
      async ({ repo, root }) => {
        await mkdir(join(root, 'outside'));
        await rm(join(repo, 'sub'), { recursive: true });
        await symlink(join(root, 'outside'), join(repo, 'sub'));
      },
    ],
    [
      'what git ignores is where a file was',
      async ({ write }) => {
        await write('.git/info/exclude', 'mine\n');
        await write('gone.txt/mine', 'x\n');
      },
      'gone.txt/mine',
    ],
    [
      'a link that git ignores is where a folder was',
      async ({ repo, root, write }) => {
        await write('.git/info/exclude', 'away\n');
        await mkdir(join(root, 'elsewhere'));
        await symlink(join(root, 'elsewhere'), join(repo, 'away'));
      },
      'away',
    ],
    [
      'lines that git merges by taking both changed',
      async ({ write }) => {
        await write('.git/info/attributes', '* merge=union\n');
        await write('kept.txt', lines([0, 'later']));
      },
      'kept.txt',
    ],
  ])('refuses where %s, with all as it was', async (_, later, named = '') => {
    const place = await undoing(folder);
    await place.task(async () => {
      await place.write('kept.txt', lines([0, 'A']));
      await rm(join(place.repo, 'gone.txt'));
      await rm(join(place.repo, 'away'), { recursive: true });
      await place.write('sub/deep.txt', 'of the task\n');
    });
    await later(place);
    const before = await place.files();
    const why = await refusal(place.undo());
    expect(why).toMatch(/^WORK_DOES_NOT_FIT: /);
    expect(why).toContain(named);
    expect(await place.files()).toEqual(before);
  });

  it('refuses where a file became a folder, or a folder a file or a link, since new files stay', async () => {
    const place = await undoing(folder);
    await place.write('other/one', '1\n');
    await place.task(async () => {
      await rm(join(place.repo, 'gone.txt'));
      await place.write('gone.txt/deep/er', 'x\n');
      for (const name of ['sub', 'other']) await rm(join(place.repo, name), { recursive: true });
      await place.write('sub', 'a file now\n');
      await symlink('/etc', join(place.repo, 'other'));
    });
    const before = await place.files();
    expect(await refusal(place.undo())).toMatch(/^WORK_DOES_NOT_FIT: /);
    expect(await place.files()).toEqual(before);
  });

  it('deletes no file that was there before: ignored then, listed by a changed rule now, or the other way', async () => {
    const place = await undoing(folder);
    await place.write('build/precious', 'mine\n');
    await place.write('notes.log', 'mine\n');
    const before = await place.files();
    await place.task(async () => {
      await place.write('.gitignore', '*.log\n');
      await place.write('build/new', 'of the task\n');
    });
    const { left } = await place.undo();
    expect(left.join()).toMatch(/New files stay.*build\/new, build\/precious/);
    expect(await place.files()).toEqual({ ...before, 'build/new': 'of the task\n' });
  });

  it('stays in the project of the task, where that is a folder of the repository', async () => {
    const place = await undoing(folder);
    await place.task(
      async () => {
        await place.write('sub/deep.txt', 'of the task\n');
        await place.write('kept.txt', lines([0, 'of a person meanwhile']));
        await place.git('commit', '--quiet', '--all', '-m', 'both');
      },
      join(place.repo, 'sub'),
    );
    expect(await place.undo()).toMatchObject({ files: ['sub/deep.txt'] });
    expect(await place.files()).toMatchObject({
      'sub/deep.txt': 'deep\n',
      'kept.txt': lines([0, 'of a person meanwhile']),
    });
  });

  it('touches no other repository inside, and no submodule', async () => {
    const place = await undoing(folder);
    for (const name of ['nested', 'module']) {
      await mkdir(join(place.repo, name));
      await place.gitIn(join(place.repo, name), 'init', '--quiet');
      await place.write(`${name}/file`, 'one\n');
      await place.gitIn(join(place.repo, name), 'add', '.');
      await place.gitIn(join(place.repo, name), 'commit', '--quiet', '-m', 'inner');
    }
    await place.git('add', 'module');
    await place.git('commit', '--quiet', '-m', 'a submodule');
    await place.task(async () => {
      for (const name of ['nested', 'module']) await place.write(`${name}/file`, 'two\n');
      await place.gitIn(join(place.repo, 'module'), 'commit', '--quiet', '--all', '-m', 'further');
      await place.git('add', 'module');
      await place.write('kept.txt', lines([0, 'A']));
    });
    const { files, left } = await place.undo();
    expect(files).toEqual(['kept.txt']);
    expect(left).toEqual(['Submodules stay as they are: module.']);
    expect(await place.files()).toMatchObject({ 'nested/file': 'two\n', 'module/file': 'two\n' });
  });

  it('runs nothing that the repository names, and takes lines as git stores them', async () => {
    const place = await undoing(folder);
    await place.git('config', 'core.autocrlf', 'true');
    await place.write('crlf.txt', 'one\r\ntwo\r\n');
    const before = await place.files();
    const program = join(place.root, 'program');
    await place.write('../../program', '#!/bin/sh\ntouch "$0.ran"\ncat\n');
    await chmod(program, 0o755);
    await place.git('config', 'filter.up.clean', program);
    await place.git('config', 'filter.up.smudge', program);
    await place.git('config', 'merge.own.driver', program);
    await place.write('.git/info/attributes', '*.up filter=up\n*.own merge=own\n');
    await place.write('.git/hooks/post-index-change', `#!/bin/sh\n${program}\n`);
    await chmod(join(place.repo, '.git', 'hooks', 'post-index-change'), 0o755);
    await place.task(async () => {
      await place.write('crlf.txt', 'one\r\n2\r\n');
      await place.write('a.own', 'x\n');
      await place.write('a.up', 'x\n');
    });
    await place.undo();
    // A file behind a filter is not kept, so it stays.
    expect(await place.files()).toEqual({ ...before, 'a.own': 'x\n', 'a.up': 'x\n' });
    expect(await readdir(place.root)).not.toContain('program.ran');
  });
});

describe('the files of a project', () => {
  it('are not kept where there is too much of them, which is said', async () => {
    const place = await gitPlace();
    for (let number = 0; number < 5_001; number++) await place.write(`many/${number}`, '');
    const snapshots = new ProjectSnapshots(place.parts);
    const objects = join(place.root, 'objects');
    const before = await snapshots.before(place.repo, signal, objects);
    expect(before).toMatchObject({
      state: 'repository',
      not_kept: expect.stringContaining('more than 5000'),
    });
    const after = await snapshots.after(
      place.repo,
      { before: before.state === 'none' ? undefined : before, sinceMs: 0, isWorktree: false, objects },
      signal,
    );
    expect(after).toMatchObject({ doubts: [expect.stringContaining('cannot be undone')] });
    expect(after).not.toHaveProperty('tree');
  });
});
