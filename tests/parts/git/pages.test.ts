import { readlink, symlink, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCursor } from '../../../src/base/input.js';
import { patchPage, PatchReader, positionSchema } from '../../../src/git/diff/patch.js';
import { GitService } from '../../../src/git/git-service.js';
import { GitRunner } from '../../../src/git/run/run-git.js';
import { gitPlace } from '../../git/git-harness.js';
import { rounds } from '../../harness/rounds.js';

/** All pages of a patch that comes in pieces of a size. */
function pagesOf(patch: Buffer, maxBytes: number, pieceBytes: number): string[] {
  const reader = new PatchReader();
  for (let at = 0; at < patch.length; at += pieceBytes) reader.push(patch.subarray(at, at + pieceBytes));
  const read = reader.finish();
  expect([read.totalBytes, read.sections.length]).toEqual([patch.length, 3]);
  const pages = [patchPage(read, { from: undefined, maxBytes })];
  for (let cursor = pages[0]?.cursor; cursor !== undefined; cursor = pages.at(-1)?.cursor)
    pages.push(patchPage(read, { from: readCursor(positionSchema, cursor), maxBytes }));
  return pages.map(({ text }) => text);
}

describe('the pages of a patch', () => {
  it('together are the whole patch, whatever the page size and the chunks of the stream', async () => {
    const place = await gitPlace();
    const lines = (word: string): string => Array.from({ length: 60 }, (_, n) => `${word} ${n}\n`).join('');
    await place.write('a', lines('diff'));
    await place.write('b', lines('@@ é'));
    await place.write('c.bin', Buffer.from([0, 1, 2]));
    await place.commit('first');
    await place.write('a', lines('diff').replace('diff 3\n', 'x\n').replace('diff 50\n', 'y\n'));
    await place.write('b', `${lines('ü')}no end`);
    await place.write('c.bin', Buffer.from([0, 2]));
    const patch = Buffer.from(await place.git('diff'));
    fc.assert(
      fc.property(
        fc.integer({ min: 8, max: 3_000 }),
        fc.integer({ min: 1, max: 5_000 }),
        (maxBytes, pieceBytes) => {
          const pages = pagesOf(patch, maxBytes, pieceBytes);
          expect(pages.join('')).toBe(patch.toString());
          for (const page of pages) expect(Buffer.byteLength(page)).toBeLessThanOrEqual(maxBytes);
        },
      ),
      { numRuns: rounds(60) },
    );
  });

  it('all show the diff of the first page, with one diff of git; an outdated cursor is refused', async () => {
    const place = await gitPlace({ maxDiffBytes: 600 });
    for (const file of ['a', 'b', 'c']) await place.write(file, '');
    await place.commit('first');
    for (const file of ['a', 'b', 'c']) await place.write(file, `${file} line\n`.repeat(40));
    const whole = await place.git('diff');
    const first = await place.service.diff(place.target(), {});
    const cursor = first.cursor ?? '';
    await place.write('c', 'changed\n');
    const runs: string[] = [];
    class Counted extends GitRunner {
      override stream(...[call, take]: Parameters<GitRunner['stream']>): Promise<number> {
        runs.push(call.args[0] ?? '');
        return super.stream(call, take);
      }
    }
    const counted = new Counted(place.context);
    const other = (runner: GitRunner) => new GitService({ ...place.parts, runner, maxDiffBytes: 600 });
    // Another server has not seen the first page: git is asked again, and says something else by now.
    await expect(other(counted).diff(place.target(), { cursor })).rejects.toThrow(/changed since/);
    expect(runs.filter((run) => run === 'diff')).toHaveLength(1);
    await expect(place.service.diff(place.target(), { cursor, cached: true })).rejects.toThrow(
      /changed since/,
    );
    const texts = [first.text];
    for (let next = first.cursor; next !== undefined;) {
      const page = await place.service.diff(place.target(), { cursor: next });
      expect(page.repository).toBe(place.repo);
      texts.push(page.text);
      next = page.cursor;
    }
    expect(texts.join('')).toBe(whole);
    await place.write('c', 'c line\n'.repeat(40));
    expect((await other(counted).diff(place.target(), { cursor })).text).toBe(texts[1]);
    const again = await place.service.diff(place.target(), { cursor: first.here, maxBytes: 100 });
    expect(first.text.startsWith(again.text)).toBe(true);
  });

  it('end where a patch becomes too large, and say so', async () => {
    const reader = new PatchReader();
    const line = Buffer.from(`+${'x'.repeat(999)}\n`);
    for (let file = 0; file < 20; file++) {
      reader.push(
        Buffer.from(`diff --git a/f${file} b/f${file}\n--- a/f${file}\n+++ b/f${file}\n@@ -1 +1 @@\n`),
      );
      for (let count = 0; count < 1_000; count++) reader.push(line);
    }
    const patch = reader.finish();
    const from = { offset: 15_500_000, mark: patch.hash };
    expect(patchPage(patch, { from, maxBytes: 1_000_000 })).toMatchObject({
      files: 16,
      omittedFiles: 1,
      cursor: undefined,
      leftOutBytes: patch.totalBytes - 16_000_000,
    });
  });

  it('name binary files without their contents, and escape bytes that are not UTF-8', async () => {
    const place = await gitPlace();
    await place.write('bin', Buffer.from([0, 255]));
    await place.write('latin', Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]));
    await place.git('add', '.');
    const diff = await place.service.diff(place.target(), { cached: true });
    expect(diff.text).toContain('Binary files /dev/null and b/bin differ');
    expect(diff.text).toContain('+caf\\xe9\n');
    expect(diff.escaped).toBe(true);
    const stat = await place.service.diffStat(place.target(), true);
    expect(stat.files[0]).toEqual({ file: 'bin', insertions: 0, deletions: 0, binary: true });
  });
});

describe('the pages of a commit', () => {
  it('show one commit even if its branch moves, and only the first has its facts', async () => {
    const place = await gitPlace({ maxDiffBytes: 1_500 });
    for (const name of ['a', 'b', 'c']) await place.write(name, 'a line\n'.repeat(150));
    await place.commit('three files');
    const whole = await place.git('show', '--format=', 'HEAD');
    const first = await place.service.show(place.target(), { revision: 'HEAD' });
    expect(first.facts).toMatchObject({ message: 'three files', stat: { total: { files: 3 } } });
    expect(first.patch.totalBytes).toBe(whole.length);
    await place.git('commit', '--quiet', '--allow-empty', '-m', 'later');
    const texts = [first.patch.text];
    let { cursor } = first;
    while (cursor !== undefined) {
      const page = await place.service.show(place.target(), { revision: 'HEAD', cursor });
      expect([page.commit, page.facts]).toEqual([first.commit, undefined]);
      expect(page.patch.text.startsWith('diff --git ')).toBe(true);
      texts.push(page.patch.text);
      cursor = page.cursor;
    }
    expect(texts).toHaveLength(3);
    expect(texts.join('')).toBe(whole);
    const ofDiff = await place.service.diff(place.target(), { base: 'HEAD~1' });
    for (const bad of ['nonsense', ofDiff.cursor ?? 'none'])
      await expect(place.service.show(place.target(), { revision: 'HEAD', cursor: bad })).rejects.toThrow(
        /cursor/,
      );
  });
});

describe('the history', () => {
  it('has pages that new commits do not shift, by file and by range', async () => {
    const place = await gitPlace();
    for (let n = 0; n < 5; n++) {
      await place.write(n % 2 === 0 ? 'even' : 'odd', `${n}\n`);
      await place.commit(`commit ${n}\n\nbody`);
    }
    const subjects = (history: { readonly commits: readonly { readonly subject: string }[] }): string[] =>
      history.commits.map((one) => one.subject);
    const first = await place.service.log(place.target(), { maxCount: 2 });
    expect(subjects(first)).toEqual(['commit 4', 'commit 3']);
    await place.git('commit', '--quiet', '--allow-empty', '-m', 'later');
    const next = await place.service.log(place.target(), { maxCount: 9, cursor: first.cursorAfter(1) ?? '' });
    expect(subjects(next)).toEqual(['commit 3', 'commit 2', 'commit 1', 'commit 0']);
    expect(next.cursorAfter(4)).toBeUndefined();
    const odd = await place.service.log(place.target(join(place.repo, 'odd')), { maxCount: 9 });
    expect(subjects(odd)).toEqual(['commit 3', 'commit 1']);
    await expect(place.service.log(place.target(), { maxCount: 9, revision: 'HEAD...main' })).rejects.toThrow(
      "'HEAD...main' is not a revision.",
    );
    const range = await place.service.log(place.target(), { maxCount: 9, revision: 'HEAD~2..HEAD' });
    expect(subjects(range)).toEqual(['later', 'commit 4']);
    const shown = await place.service.show(place.target(), { revision: 'HEAD~5' });
    expect(shown.facts).toMatchObject({
      message: 'commit 0\n\nbody',
      parents: [],
      author: 'N <n@example.com>',
    });
    expect(shown.patch.text).toContain('+0\n');
  });
});

describe('init', () => {
  it('follows no link, and refuses a bad .git and a bad branch name', async () => {
    const place = await gitPlace();
    const { signal } = place.target();
    const folder = join(place.projects, 'new');
    await mkdir(folder);
    const inside = join(place.projects, 'nothing');
    await symlink(inside, join(folder, '.git'));
    await expect(place.service.init(folder, {}, signal)).rejects.toThrow(/does not exist/);
    expect(await readlink(join(folder, '.git'))).toBe(inside);
    const far = join(place.projects, 'far');
    await mkdir(far);
    await symlink(join(place.root, 'nothing'), join(far, '.git'));
    await expect(place.service.init(far, {}, signal)).rejects.toThrow(/not within allowed roots/);
    const odd = join(place.projects, 'odd');
    await mkdir(join(odd, '.git'), { recursive: true });
    await writeFile(join(odd, '.git', 'config'), '');
    await expect(place.service.init(odd, {}, signal)).rejects.toThrow(/has no HEAD/);
    for (const initialBranch of ['', '-x', 'a..b', 'a b', '@', 'x.lock'])
      await expect(place.service.init(place.repo, { initialBranch }, signal)).rejects.toThrow(/branch/);
  });
});
