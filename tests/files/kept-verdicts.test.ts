import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { systemClock, type Clock } from '../../src/base/clock.js';
import { messageOf } from '../../src/base/errors.js';
import type { ProjectExplorer } from '../../src/files/project-explorer.js';
import { tempFolder } from '../config/temp-folder.js';
import { explorerOf, git, never, writeTree } from './explorer.js';

const run = promisify(execFile);
const LATER_MS = 60_000;
/** For which whatever is on the disk was written long ago. */
const later: Clock = { ...systemClock, now: () => systemClock.now() + LATER_MS };
/** Elsewhere it is not known whether the times of folders can be relied on. */
const isNear = process.platform === 'linux';

interface Place {
  readonly root: string;
  readonly home: string;
  /** What git was asked, one line for each start of it. */
  readonly asked: () => Promise<readonly string[]>;
  readonly explorer: (clock?: Clock) => ProjectExplorer;
}

/** A repository, a home, and a git that notes what it is asked. */
async function place(files: Readonly<Record<string, string>>): Promise<Place> {
  const folder = await tempFolder();
  const [root, home, bin] = ['project', 'home', 'bin'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const made of [root, home, bin]) await mkdir(made);
  await git(root, 'init', '-q');
  await writeTree(root, files);
  const { stdout } = await run('/bin/sh', ['-c', 'command -v git']);
  const log = join(folder, 'asked');
  await writeFile(log, '');
  const shim = `#!/bin/sh\necho "$*" >>'${log}'\nexec '${stdout.trim()}' "$@"\n`;
  await writeFile(join(bin, 'git'), shim);
  await chmod(join(bin, 'git'), 0o755);
  const surroundings = {
    path: `${bin}:${process.env['PATH'] ?? ''}`,
    homeDir: home,
    xdgConfigHome: undefined,
  };
  return {
    root,
    home,
    asked: async () => {
      const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '');
      await writeFile(log, '');
      return lines;
    },
    explorer: (clock = later) => explorerOf(root, 1, undefined, undefined, clock, surroundings),
  };
}

async function found(explorer: ProjectExplorer, path: string): Promise<string[]> {
  const { matches } = await explorer.search({ path, query: 'needle' }, never);
  return matches.map((match) => match.path);
}

const asksAboutFiles = (asked: readonly string[]): boolean =>
  asked.some((line) => line.includes('check-ignore'));

const project = {
  '.gitignore': '*.log\n',
  'a/one.txt': 'needle',
  'a/two.log': 'needle',
  'a/deep/three.txt': 'needle',
  'b/.gitignore': '!*.log\nsecret*\n',
  'b/four.log': 'needle',
  'b/secret.txt': 'needle',
  'top.txt': 'needle',
};
const shown = ['a/deep/three.txt', 'a/one.txt', 'b/four.log', 'top.txt'];

describe('what git said of files, for the next search', () => {
  test('holds while nothing changes: once it was enough, git is not started to judge files', async () => {
    const { root, explorer, asked } = await place(project);
    const one = explorer();
    const questions: boolean[] = [];
    for (let search = 0; search < 5; search++) {
      expect(await found(one, root)).toEqual(shown);
      questions.push(asksAboutFiles(await asked()));
    }
    // Before the third one nobody knows that it will be enough: git may be started for nothing.
    expect(questions.toSpliced(2, 1)).toEqual([true, true, !isNear, !isNear]);
  });

  test.runIf(isNear)('holds for files that the next search finds by another text, page by page', async () => {
    const { root, explorer, asked } = await place(project);
    const one = explorer();
    for (let search = 0; search < 3; search++) await found(one, root);
    await asked();
    const paths: string[] = [];
    const query = { path: root, query: 'need', context: 1, maxBytes: 100 };
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
      const page = await one.search({ ...query, cursor }, never);
      paths.push(...page.matches.map((match) => match.path));
      cursor = page.cursor;
    }
    expect(paths).toEqual(shown);
    expect(asksAboutFiles(await asked())).toBe(false);
  });

  test('does not hinder files that come: git is asked about them, and about them alone', async () => {
    const { root, explorer } = await place(project);
    const one = explorer();
    for (let search = 0; search < 4; search++) await found(one, root);
    await writeTree(root, {
      'a/deep/five.txt': 'needle',
      'new/six.txt': 'needle',
      'new/seven.log': 'needle',
    });
    for (let search = 0; search < 3; search++)
      expect(await found(one, root)).toEqual([...shown, 'a/deep/five.txt', 'new/six.txt'].sort());
  });

  test('is not kept of what was changed a moment ago', async () => {
    const { root, explorer, asked } = await place(project);
    const one = explorer(systemClock);
    for (let search = 0; search < 4; search++) {
      await asked();
      expect(await found(one, root)).toEqual(shown);
    }
    expect(asksAboutFiles(await asked())).toBe(true);
  });

  test.each([
    ['includes others', (home: string) => writeFile(join(home, '.gitconfig'), '[include]\n\tpath = more\n')],
    [
      'name an ignore file by no path of its own',
      (home: string) => writeFile(join(home, '.gitconfig'), '[core]\n\texcludesFile = rules\n'),
    ],
  ])('is not kept where settings of git that %s decide', async (_name, set) => {
    const { root, home, explorer, asked } = await place(project);
    await set(home);
    const one = explorer();
    for (let search = 0; search < 4; search++) {
      await asked();
      expect(await found(one, root)).toEqual(shown);
    }
    expect(asksAboutFiles(await asked())).toBe(true);
  });
});

type Change = (place: Place) => Promise<unknown>;

/** What git cannot do after the changes before it is none. */
const ifItCan = (done: Promise<unknown>): Promise<unknown> => done.catch(() => undefined);

/** Whatever may change an answer, each by its name. */
const changes: Readonly<Record<string, Change>> = {
  'a file comes': ({ root }) => writeFile(join(root, `a/new-${Math.random()}.txt`), 'needle'),
  'a file goes': ({ root }) => rm(join(root, 'a/one.txt'), { force: true }),
  'a file loses the text': ({ root }) => writeFile(join(root, 'top.txt'), 'hay'),
  'a file gets the text': ({ root }) => writeFile(join(root, 'top.txt'), 'hay\nneedle\n'),
  'an ignore file grows': ({ root }) => appendFile(join(root, '.gitignore'), 'one*\n'),
  'an ignore file is another': ({ root }) => writeFile(join(root, 'b/.gitignore'), 'four*\n'),
  'an ignore file comes': ({ root }) => writeFile(join(root, 'a/deep/.gitignore'), '*\n'),
  'an ignore file goes': ({ root }) => rm(join(root, 'a/deep/.gitignore'), { force: true }),
  'an ignored file is tracked': ({ root }) => ifItCan(git(root, 'add', '-f', 'b/secret.txt')),
  'a tracked file is tracked no more': ({ root }) =>
    ifItCan(git(root, 'rm', '-q', '--cached', 'b/secret.txt')),
  'the repository’s own rules': ({ root }) => appendFile(join(root, '.git/info/exclude'), 'four.log\n'),
  'no rules of its own': ({ root }) => writeFile(join(root, '.git/info/exclude'), ''),
  'the user’s rules': async ({ home }) => {
    await mkdir(join(home, '.config/git'), { recursive: true });
    await writeFile(join(home, '.config/git/ignore'), 'three.txt\n');
  },
  'no rules of the user': ({ home }) => rm(join(home, '.config'), { recursive: true, force: true }),
  'rules that a setting names': async ({ root, home }) => {
    await writeFile(join(home, 'rules'), 'top.txt\n');
    await git(root, 'config', 'core.excludesFile', join(home, 'rules'));
  },
  'other rules that a setting names': ({ home }) => writeFile(join(home, 'rules'), 'one.txt\n'),
  'names in capitals': ({ root }) => git(root, 'config', 'core.ignoreCase', 'true'),
  'a repository comes': ({ root }) => ifItCan(git(join(root, 'a/deep'), 'init', '-q')),
  'a repository goes': ({ root }) => rm(join(root, 'a/deep/.git'), { recursive: true, force: true }),
  'a folder gets another name': async ({ root }) => {
    await rm(join(root, 'c'), { recursive: true, force: true });
    await rename(join(root, 'b'), join(root, 'c'));
    await writeTree(root, { 'b/.gitignore': 'no*\n', 'b/no.txt': 'needle', 'b/yes.txt': 'needle' });
  },
  'a folder becomes a link': async ({ root, home }) => {
    await writeTree(home, { 'outside/one.txt': 'needle' });
    await rm(join(root, 'b'), { recursive: true, force: true });
    await symlink(join(home, 'outside'), join(root, 'b'));
  },
  'a link becomes a folder': async ({ root }) => {
    await rm(join(root, 'b'), { recursive: true, force: true });
    await writeTree(root, { 'b/.gitignore': 'secret*\n', 'b/four.log': 'needle', 'b/secret.txt': 'needle' });
  },
  'a file becomes a link': async ({ root, home }) => {
    await writeFile(join(home, 'outside.txt'), 'needle');
    await rm(join(root, 'top.txt'), { force: true });
    await symlink(join(home, 'outside.txt'), join(root, 'top.txt'));
  },
  nothing: () => Promise.resolve(),
};

describe('a search after whatever has changed', () => {
  // Each of its some 150 searches starts git more than once.
  test('shows what one that knows nothing shows', { timeout: 180_000 }, async () => {
    const name = fc.constantFrom(...Object.keys(changes));
    await fc.assert(
      fc.asyncProperty(fc.array(name, { minLength: 6, maxLength: 10 }), async (names) => {
        const at = await place(project);
        const one = at.explorer();
        for (let search = 0; search < 3; search++) await found(one, at.root);
        for (const change of names) {
          await changes[change]?.(at);
          const expected = await found(at.explorer(), at.root);
          for (let search = 0; search < 2; search++)
            expect(await found(one, at.root), names.join(', ')).toEqual(expected);
        }
      }),
      { numRuns: 6 },
    );
  });

  test.each(Object.keys(changes))('%s: shows what one that knows nothing shows', async (change) => {
    const at = await place(project);
    const [one, below] = [at.explorer(), at.explorer()];
    for (let search = 0; search < 3; search++) {
      await found(one, at.root);
      await found(below, join(at.root, 'a'));
    }
    await changes[change]?.(at);
    expect(await found(one, at.root)).toEqual(await found(at.explorer(), at.root));
    expect(await found(below, join(at.root, 'a'))).toEqual(await found(at.explorer(), join(at.root, 'a')));
  });
});

/** git judges nothing that lies behind a link. */
function noMatches(fault: unknown): { matches: never[] } {
  expect(messageOf(fault)).toContain('beyond a symbolic link');
  return { matches: [] };
}

/** Puts a link in the place of a folder again and again, for a moment, until it is killed. */
const swapper = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
const [folder, away, outside] = process.argv.slice(1);
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
process.stdout.write('ready');
for (;;) {
  pause(Math.random() * 120);
  renameSync(folder, away);
  symlinkSync(outside, folder);
  pause(Math.random() * 3);
  unlinkSync(folder);
  renameSync(away, folder);
}`;

describe('a folder that becomes a link while it is searched', () => {
  test('shows nothing of what lies behind it', async () => {
    const { root, home, explorer } = await place(project);
    await writeTree(home, {
      'outside/one.txt': 'needle, a secret',
      'outside/deep/three.txt': 'needle, a secret',
    });
    const paths = [join(root, 'a'), join(home, 'away'), join(home, 'outside')];
    const child = spawn(process.execPath, ['-e', swapper, ...paths], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    const one = explorer();
    try {
      for (let search = 0; search < 80; search++) {
        const { matches } = await one.search({ path: root, query: 'needle' }, never).catch(noMatches);
        expect(matches.filter(({ text }) => text !== 'needle')).toEqual([]);
        expect(shown).toEqual(expect.arrayContaining(matches.map(({ path }) => path)));
      }
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
  });
});
