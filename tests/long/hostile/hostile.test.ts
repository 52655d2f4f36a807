import { access, appendFile, chmod, mkdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GitService } from '../../../src/git/git-service.js';
import { ProjectSnapshots } from '../../../src/git/state/project-snapshots.js';
import { GitRunner } from '../../../src/git/run/run-git.js';
import { Worktrees } from '../../../src/git/worktree/worktrees.js';
import { ActiveProject } from '../../../src/projects/active-project.js';
import { AllowedRoots } from '../../../src/projects/allowed-roots.js';
import { testedGits } from '../../harness/gits.js';
import { explorerOf } from '../../files/explorer.js';
import { gitPlace, type GitPlace } from '../../git/git-harness.js';
import { tricks, type Trick } from './hostile-tricks.js';

const { signal } = new AbortController();
const actions = ['merge', 'apply', 'discard'] as const;

interface HostilePlace extends GitPlace {
  readonly program: string;
  /** What `program` wrote, the empty text when it never ran. */
  readonly ran: () => Promise<string>;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function hostilePlace(gitFolder: string | undefined): Promise<HostilePlace> {
  const place = await gitPlace({ gitFolder });
  const canary = join(place.root, 'canary');
  const program = join(place.root, 'program');
  await writeFile(program, `#!/bin/sh\necho "ran $0 $*" >> "${canary}"\ncat\n`);
  await chmod(program, 0o755);
  await place.write('kept.txt', 'one\n');
  await place.write('same.txt', 'same\n');
  await place.commit('first');
  return { ...place, program, ran: async () => ((await exists(canary)) ? readFile(canary, 'utf8') : '') };
}

async function change(place: GitPlace): Promise<void> {
  await place.write('kept.txt', 'two\n');
  await place.write('new.txt', 'new\n');
  // Looked at again by git, since its times no longer fit.
  await utimes(join(place.repo, 'same.txt'), new Date(), new Date(1_000_000_000_000));
}

/** Every way in which a repository is looked at. */
async function lookAtAll(place: GitPlace): Promise<void> {
  const { service, target } = place;
  const status = await service.status(target());
  expect(status.lists.modified).toEqual(['kept.txt']);
  expect(status.lists.untracked).toContain('new.txt');
  expect(status.branch).toBe('main');
  const diff = await service.diff(target(), {});
  expect(diff.text).toContain('-one\n+two\n');
  expect(diff.text).not.toContain('same.txt');
  expect((await service.diff(target(), { base: 'HEAD' })).text).toBe(diff.text);
  expect((await service.diff(target(), { cached: true })).text).toBe('');
  expect((await service.diffStat(target(), false)).files).toEqual([
    { file: 'kept.txt', insertions: 1, deletions: 1 },
  ]);
  const log = await service.log(target(), { maxCount: 10 });
  expect(log.commits.map((one) => one.subject)).toContain('first');
  const first = log.commits.at(-1)?.commit ?? '';
  expect((await service.show(target(), { revision: first })).patch.text).toContain('+one\n');
  await service.init(place.repo, {}, signal);
  await service.init(await emptyFolder(place), { initialBranch: 'main', gitignore: true }, signal);
  await lookForReceipt(place);
  await lookAtFiles(place);
}

async function emptyFolder(place: GitPlace): Promise<string> {
  const folder = join(place.repo, 'inner');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  return folder;
}

async function lookForReceipt(place: GitPlace): Promise<void> {
  const snapshots = new ProjectSnapshots({
    roots: new AllowedRoots([place.projects], place.homeDir),
    runner: place.runner,
  });
  const before = await snapshots.before(place.repo, signal);
  if (before.state !== 'repository') throw new Error(before.why);
  const after = await snapshots.after(place.repo, { before, sinceMs: 0, isWorktree: false }, signal);
  expect(after).toMatchObject({ state: 'repository', branch: 'main' });
}

async function lookAtFiles(place: GitPlace): Promise<void> {
  const explorer = explorerOf(place.projects, { host: place.context, defaultDepth: 3 });
  const { names } = await explorer.names({ path: place.repo }, signal);
  expect(names).toEqual(expect.arrayContaining(['kept.txt', 'new.txt', 'same.txt']));
  for (const query of ['two', 'same'])
    expect((await explorer.search({ path: place.repo, query }, signal)).matches).not.toEqual([]);
}

/** A worktree with work in it, brought home or dropped. The answer of git when it refuses. */
async function work(
  place: GitPlace,
  action: (typeof actions)[number],
  runner: GitRunner,
  inWorktree?: (folder: string) => Promise<void>,
): Promise<string> {
  const roots = new AllowedRoots([place.projects], place.homeDir);
  const worktrees = new Worktrees({ roots, runner });
  const taskId = `task_${action}`;
  const { worktree } = await worktrees.create(
    await roots.resolve(place.repo),
    { taskId, branch: `claude/${taskId}` },
    signal,
  );
  await mkdir(join(worktree.path, 'deep'), { recursive: true });
  await writeFile(join(worktree.path, 'deep', `${action}.txt`), 'work\n');
  await writeFile(join(worktree.path, 'deep', '.gitattributes'), '* filter=evil merge=evil diff=evil\n');
  await inWorktree?.(worktree.path);
  const finish = async () => {
    const snapshots = new ProjectSnapshots({ roots, runner });
    const seen = await snapshots.after(
      worktree.path,
      { before: undefined, sinceMs: 0, isWorktree: true },
      signal,
    );
    const reviewed = seen.state === 'repository' ? seen.tree : undefined;
    return worktrees.finish(worktree, { action, taskId, message: 'work\n', reviewed }, signal);
  };
  return finish().then(
    ({ result }) => result,
    (error: unknown) => String(error),
  );
}

async function setAll(place: HostilePlace): Promise<void> {
  for (const trick of tricks.filter((one) => one.inHarmony === true)) await trick.set(place, place.program);
}

describe.each(testedGits())('a hostile repository, by $version', ({ folder }) => {
  // With the newest git in the long form: a worktree is read by the same commands.
  const inWorktrees = folder === undefined || process.env['SOAK'] === '1';

  it.each(tricks)('runs nothing by $name, and is shown correctly', async (trick: Trick) => {
    const place = await hostilePlace(folder);
    await trick.set(place, place.program);
    await change(place);
    await lookAtAll(place);
    expect(await place.ran()).toBe('');
    const isKnown = trick.since === undefined || (await isAtLeast(place, trick.since));
    if (trick.bites !== true || !isKnown) return;
    for (const args of [
      ['status'],
      ['diff', '--submodule=diff'],
      ['log', '-p'],
      ['checkout', '-q', '-b', 'x'],
    ])
      await place.git(...args).catch(() => 'a filter that changes everything may fail');
    expect(await place.ran()).toContain('ran');
  });

  it.runIf(inWorktrees).each(tricks)(
    'runs nothing by $name when a task works in a worktree',
    async (trick: Trick) => {
      const place = await hostilePlace(folder);
      await trick.set(place, place.program);
      const answer = await work(place, 'merge', place.runner, async (made) =>
        trick.setInWorktree?.(place, place.program, made),
      );
      expect(answer).toMatch(/^[0-9a-f]{40}$|need a git filter|other repositories/);
      expect(await place.ran()).toBe('');
    },
  );

  it('runs nothing that is written into its settings after git listed them', async () => {
    const place = await hostilePlace(folder);
    class Late extends GitRunner {
      override async settings(...[at]: Parameters<GitRunner['settings']>): ReturnType<GitRunner['settings']> {
        const settings = await super.settings(at);
        await setAll(place);
        return settings;
      }
    }
    const late = new Late(place.context);
    for (const action of actions) expect(await work(place, action, late)).not.toContain('GIT_FAILED');
    const roots = new AllowedRoots([place.projects], place.homeDir);
    const service = new GitService({
      roots,
      activeProject: new ActiveProject(roots),
      runner: late,
      maxDiffBytes: 50_000,
    });
    await change(place);
    await lookAtAll({ ...place, service, runner: late });
    expect(await place.ran()).toBe('');
    await place.git('status').catch(() => 'whatever it says');
    expect(await place.ran()).toContain('ran');
  });

  it('that replaces an empty .git does not count as a repository', async () => {
    const place = await hostilePlace(folder);
    const bare = join(place.projects, 'bare');
    await place.gitIn(place.projects, 'init', '--quiet', '--bare', bare);
    await appendFile(
      join(bare, 'config'),
      `[core]\n\tfsmonitor = ${place.program}\n\tbare = false\n\tworktree = .\n`,
    );
    await mkdir(join(bare, '.git'));
    const refused = { code: 'NOT_A_REPOSITORY' };
    await expect(place.service.status(place.target(bare))).rejects.toMatchObject(refused);
    await writeFile(join(bare, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    await expect(place.service.status(place.target(bare))).rejects.toMatchObject(refused);
    expect(await place.ran()).toBe('');
  });
});

async function isAtLeast(place: GitPlace, [major, minor]: readonly [number, number]): Promise<boolean> {
  const [, a = 0, b = 0] = (/(\d+)\.(\d+)/.exec(await place.git('--version')) ?? []).map(Number);
  return a > major || (a === major && b >= minor);
}
