import { chown, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitPlace, type GitPlace } from '../../git/git-harness.js';
import { GitAt } from '../../../src/git/run/run-git.js';
import { refusal } from '../../harness/refusal.js';

/** A repository beside the allowed root, with a file that nobody may see. */
async function outside(place: GitPlace): Promise<string> {
  const folder = join(place.root, 'outside');
  await mkdir(folder);
  await place.gitIn(folder, 'init', '--quiet', '--initial-branch=main');
  await writeFile(join(folder, 'secret'), 'secret\n');
  await place.commit('secret', folder);
  return folder;
}

async function emptyProject(place: GitPlace): Promise<string> {
  const folder = join(place.projects, 'empty');
  await mkdir(folder);
  return folder;
}

describe('a repository that leads out of the allowed roots', () => {
  it('is refused as a .git file, as a link, and as the common folder of a worktree', async () => {
    const place = await gitPlace();
    const secret = await outside(place);
    const file = await emptyProject(place);
    await writeFile(join(file, '.git'), `gitdir: ${secret}/.git\n`);
    expect(await refusal(place.service.status(place.target(file)))).toMatch(/^PATH_NOT_ALLOWED: /);
    const link = join(place.projects, 'link');
    await mkdir(link);
    await symlink(join(secret, '.git'), join(link, '.git'));
    expect(await refusal(place.service.diff(place.target(link), {}))).toMatch(/^PATH_NOT_ALLOWED: /);
    await writeFile(join(place.repo, '.git', 'commondir'), `${secret}/.git\n`);
    expect(await refusal(place.service.log(place.target(), { maxCount: 1 }))).toMatch(/^PATH_NOT_ALLOWED: /);
  });

  it('is refused when it borrows objects, even indirectly, or stores them elsewhere', async () => {
    const place = await gitPlace();
    const secret = await outside(place);
    const middle = join(place.projects, 'middle');
    await place.gitIn(place.projects, 'init', '--quiet', 'middle');
    await writeFile(join(middle, '.git/objects/info/alternates'), `"${secret}/.git/objects"\n`);
    await writeFile(join(place.repo, '.git/objects/info/alternates'), '../../../middle/.git/objects\n');
    const show = (): Promise<unknown> => place.service.show(place.target(), { revision: 'HEAD' });
    expect(await refusal(show())).toMatch(/^PATH_NOT_ALLOWED: /);
    await writeFile(join(place.repo, '.git/objects/info/alternates'), '');
    expect(await refusal(show())).toMatch(/^REVISION_NOT_FOUND: /);
    await rename(join(place.repo, '.git/objects'), join(place.root, 'objects'));
    await symlink(join(place.root, 'objects'), join(place.repo, '.git/objects'));
    expect(await refusal(show())).toMatch(/^PATH_NOT_ALLOWED: /);
  });

  it('is refused when links inside its stores or its folder lead there, even one added later', async () => {
    const place = await gitPlace();
    const secret = await outside(place);
    const head = (await place.gitIn(secret, 'rev-parse', 'HEAD')).trim();
    await place.write('a', '1\n');
    await place.commit('first');
    const show = (): Promise<unknown> => place.service.show(place.target(), { revision: head });
    expect(await refusal(show())).toMatch(/^REVISION_NOT_FOUND: /);
    const [folder, name] = [head.slice(0, 2), head.slice(2)];
    const objects = join(place.repo, '.git', 'objects');
    await mkdir(join(objects, folder), { recursive: true });
    await symlink(join(secret, '.git', 'objects', folder, name), join(objects, folder, name));
    expect(await refusal(show())).toMatch(/^PATH_NOT_ALLOWED: /);
    expect(await refusal(place.service.status(place.target()))).toMatch(/^PATH_NOT_ALLOWED: /);
    await rm(join(objects, folder, name));
    expect(await refusal(show())).toMatch(/^REVISION_NOT_FOUND: /);
    await symlink(join(secret, '.git', 'objects', 'pack'), join(objects, 'pack', 'more'));
    expect(await refusal(show())).toMatch(/^PATH_NOT_ALLOWED: /);
    await rm(join(objects, 'pack', 'more'));
    await rm(join(place.repo, '.git', 'index'));
    await symlink(join(secret, '.git', 'index'), join(place.repo, '.git', 'index'));
    expect(await refusal(place.service.status(place.target()))).toMatch(/^PATH_NOT_ALLOWED: /);
    // A link that stays inside the roots is as good as what it leads to.
    await rm(join(place.repo, '.git', 'index'));
    await rename(join(objects, 'pack'), join(place.projects, 'pack'));
    await symlink(join(place.projects, 'pack'), join(objects, 'pack'));
    expect(await refusal(place.service.log(place.target(), { maxCount: 1 }))).toMatch(/^no error/);
    await symlink(secret, join(place.projects, 'pack', 'x'));
    expect(await refusal(place.service.log(place.target(), { maxCount: 1 }))).toMatch(/^PATH_NOT_ALLOWED: /);
  });

  it('is not searched above the roots', async () => {
    const place = await gitPlace();
    await place.gitIn(place.root, 'init', '--quiet');
    const folder = await emptyProject(place);
    expect(await refusal(place.service.status(place.target(folder)))).toMatch(/^NOT_A_REPOSITORY: /);
  });

  it('is an error that names a .git which cannot be followed, never the answer of the repository above', async () => {
    const place = await gitPlace();
    await place.gitIn(place.projects, 'init', '--quiet', 'other');
    const stale = join(place.repo, '.git', 'worktrees', 'gone');
    const cases: Readonly<Record<string, [make: (git: string) => Promise<unknown>, error: RegExp]>> = {
      'of a moved worktree': [
        (git) => writeFile(git, `gitdir: ${stale}\n`),
        /leads to '.*gone', which does not exist/,
      ],
      'file without a path': [(git) => writeFile(git, 'gitdir:\n'), /is a file that names no repository/],
      'folder without anything': [(git) => mkdir(git), /has no HEAD/],
      'link to nothing': [(git) => symlink('../nothing', git), /leads to '.*nothing', which does not exist/],
      'repository elsewhere': [
        (git) => writeFile(git, 'gitdir: /none/.git\n'),
        /names: Path '\/none\/.git' is not within/,
      ],
      'folder with a broken HEAD': [
        async (git) => {
          for (const name of ['refs', 'objects']) await mkdir(join(git, name), { recursive: true });
          await writeFile(join(git, 'HEAD'), '');
        },
        /not a git repository/,
      ],
    };
    for (const [name, [make, expected]] of Object.entries(cases)) {
      const folder = join(place.repo, name);
      await mkdir(folder);
      await make(join(folder, '.git'));
      const inside = join(folder, 'deep');
      await mkdir(inside);
      const error = await refusal(place.service.status(place.target(inside)));
      expect(error, name).toMatch(expected);
      expect(error, name).toMatch(/^(NOT_A_REPOSITORY|PATH_NOT_ALLOWED|PATH_NOT_FOUND): .*\.git/);
    }
    const windows = join(place.repo, 'windows');
    await mkdir(windows);
    await writeFile(join(windows, '.git'), 'gitdir: ../../other/.git\r\n');
    expect(await refusal(place.service.status(place.target(windows)))).toMatch(/^no error/);
  });

  it('without a working tree says so and names its worktrees, but shows its commits', async () => {
    const place = await gitPlace();
    await place.write('a', '1\n');
    await place.commit('first');
    const layout = join(place.projects, 'layout');
    await place.gitIn(place.projects, 'clone', '--quiet', '--bare', place.repo, 'layout/.bare');
    await writeFile(join(layout, '.git'), 'gitdir: ./.bare\n');
    await place.gitIn(layout, 'worktree', 'add', '--quiet', 'main');
    const expected = /^NOT_A_REPOSITORY: .* no working tree\. Its worktrees: .*layout\/main\.$/;
    for (const folder of [layout, join(layout, '.bare'), join(layout, '.bare', 'refs')])
      expect(await refusal(place.service.status(place.target(folder)))).toMatch(expected);
    expect(await refusal(place.service.diff(place.target(layout), {}))).toMatch(expected);
    expect((await place.service.log(place.target(layout), { maxCount: 1 })).commits).toHaveLength(1);
    const bare = place.target(join(layout, '.bare'));
    expect((await place.service.log(bare, { maxCount: 1 })).commits).toHaveLength(1);
    expect((await place.service.show(bare, { revision: 'main' })).patch.text).toContain('+1\n');
    expect(await place.service.status(place.target(join(layout, 'main')))).toMatchObject({ clean: true });
    expect(await refusal(place.service.status(place.target(join(place.repo, '.git'))))).toMatch(
      /^NOT_A_REPOSITORY: /,
    );
  });

  it('that another user owns is reported with what to do', async () => {
    const place = await gitPlace();
    if (process.getuid?.() === 0) await chown(place.repo, 65_534, 65_534);
    const expected =
      process.getuid?.() === 0 ? /^NOT_A_REPOSITORY: .*another user.*safe\.directory/ : /^no error/;
    expect(await refusal(place.service.status(place.target()))).toMatch(expected);
  });
});

describe('git', () => {
  it('is shown as it is, whatever git replaces', async () => {
    const place = await gitPlace();
    for (const text of ['one\n', 'two\n']) {
      await writeFile(join(place.repo, 'a.txt'), text);
      await place.commit('same');
    }
    await place.git('replace', 'HEAD', 'HEAD~1');
    const diff = await place.service.diff(place.target(), { base: 'HEAD~1' });
    expect(JSON.stringify(diff)).toContain('+two');
  });

  it('that fails is reported with its own message', async () => {
    const place = await gitPlace();
    await place.write('a', '1\n');
    await place.commit('first');
    await place.write('.git/index', 'no index');
    expect(await refusal(place.service.diff(place.target(), {}))).toMatch(
      /^GIT_FAILED: git (?:diff|ls-files) failed \(128\): .*index/,
    );
    expect(await refusal(place.service.status(place.target()))).toMatch(/^GIT_FAILED: /);
    const commonDir = join(place.repo, '.git');
    const environment = { GIT_INDEX_FILE: join(commonDir, 'index') };
    const own = new GitAt(place.runner, { ...place.target(), cwd: place.repo, commonDir, environment });
    expect(await refusal(own.output(['ls-files']))).toMatch(/failed \(128\): index: index file/);
    await writeFile(join(place.repo, '.git', 'config'), '[broken');
    expect(await refusal(place.service.status(place.target()))).toMatch(
      /^GIT_FAILED: .*bad config.*Nothing was changed/,
    );
  });

  it.each<[string, (place: GitPlace, objects: string) => Promise<unknown>]>([
    ['the commit of HEAD is missing', async (_, file) => rm(file)],
    ['the branch of HEAD is no commit', async ({ write }) => write('.git/refs/heads/main', 'none\n')],
    [
      'an extension is unknown',
      async ({ git, write }) => {
        await git('config', 'extensions.unknownToGit', 'true');
        await git('config', 'core.repositoryformatversion', '1');
        await write('.git/HEAD', 'ref: refs/heads/.invalid\n');
      },
    ],
  ])('that fails since %s gives no empty history', async (_, damage) => {
    const place = await gitPlace();
    await place.write('a', '1\n');
    await place.commit('first');
    const commit = (await place.git('rev-parse', 'HEAD')).trim();
    await damage(place, join(place.repo, '.git/objects', commit.slice(0, 2), commit.slice(2)));
    const { service, target } = place;
    for (const ask of [
      () => service.log(target(), { maxCount: 1 }),
      () => service.show(target(), { revision: 'HEAD' }),
      () => service.diff(target(), { base: 'HEAD' }),
    ])
      expect(await refusal(ask())).toMatch(/^GIT_FAILED: (?!.*bridge-git-).*The message is git’s own/);
  });

  it('that looks for files elsewhere is not asked about those here, only about commits', async () => {
    const place = await gitPlace();
    await place.write('a', '1\n');
    await place.commit('first');
    for (const elsewhere of [place.homeDir, place.projects, join(place.repo, '.git')]) {
      await place.git('config', 'core.worktree', elsewhere);
      expect(await refusal(place.service.status(place.target()))).toMatch(
        /^NOT_A_REPOSITORY: .*core\.worktree/,
      );
      expect((await place.service.log(place.target(), { maxCount: 1 })).commits).toHaveLength(1);
    }
    await place.git('config', 'core.worktree', place.repo);
    expect(await place.service.status(place.target())).toMatchObject({ clean: true });
  });

  it('that hangs is ended at its time limit, and when the call is cancelled', async () => {
    const place = await gitPlace({ timeLimitMs: 1_000 });
    const never = new AbortController().signal;
    const hang = ({ repo: cwd, runner }: GitPlace, signal: AbortSignal) =>
      new GitAt(runner, { cwd, signal }).output(['-c', 'alias.hang=!sleep 600', 'hang']);
    expect(await refusal(hang(place, never))).toMatch(/did not finish within 1 seconds/);
    const patient = await gitPlace();
    const cancel = new AbortController();
    const answer = hang(patient, cancel.signal);
    setTimeout(() => cancel.abort(), 200);
    await expect(answer).rejects.toThrow(/abort/i);
  });

  it.runIf(process.platform === 'linux')(
    'that waits for a named pipe instead of an ignore file is ended with an explanation, long before its time limit',
    async () => {
      const place = await gitPlace();
      await place.write('a', '1\n');
      await place.write('b/c', '1\n');
      execFileSync('mkfifo', [join(place.repo, 'b', '.gitignore')]);
      expect(await refusal(place.service.status(place.target()))).toMatch(
        /^GIT_FAILED: git status is blocked: a file that it reads/,
      );
    },
  );

  it.runIf(process.platform === 'linux')('is not blocked by settings that are a named pipe', async () => {
    const place = await gitPlace();
    execFileSync('mkfifo', [join(place.repo, '.git', 'config.worktree')]);
    expect(await refusal(place.service.status(place.target()))).toMatch(/^no error/);
    await rm(join(place.repo, '.git', 'config'));
    execFileSync('mkfifo', [join(place.repo, '.git', 'config')]);
    expect(await refusal(place.service.status(place.target()))).toMatch(
      /^GIT_FAILED: git config is blocked: a file that it reads/,
    );
  });

  it('gets no revision that is an option, a file, a search or unknown', async () => {
    const place = await gitPlace();
    await place.write('a', '1\n');
    await place.commit('first');
    for (const base of [
      '--output=x',
      '-p',
      '',
      'HEAD:a',
      ':/first',
      'a b',
      'HEAD..HEAD',
      'x\ny',
      'a*',
      'x'.repeat(300),
    ]) {
      expect(await refusal(place.service.diff(place.target(), { base }))).toMatch(
        /^INVALID_ARGUMENTS: .*revision/,
      );
      expect(await refusal(place.service.show(place.target(), { revision: base }))).toMatch(
        /^INVALID_ARGUMENTS: /,
      );
    }
    expect(await refusal(place.service.diff(place.target(), { base: 'nowhere' }))).toMatch(
      /^REVISION_NOT_FOUND: /,
    );
    expect(await refusal(place.service.diff(place.target(join(place.repo, 'typo')), {}))).toMatch(
      /^PATH_NOT_FOUND: /,
    );
  });
});
