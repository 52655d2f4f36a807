import { chmod, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DiffStat } from '../../../src/git/diff/read-diff.js';
import { gitPlace } from '../../git/git-harness.js';
import { rounds } from '../../harness/rounds.js';

const none = { staged: [], modified: [], untracked: [], deleted: [], conflicted: [] };

describe('the status of a repository', () => {
  it('counts commits ahead and behind, and reports a deleted upstream and a detached head', async () => {
    const place = await gitPlace();
    const empty = ['commit', '--quiet', '--allow-empty', '-m'] as const;
    await place.git(...empty, 'first');
    await place.git('branch', 'base');
    await place.git('branch', '--quiet', '--set-upstream-to=base');
    await place.git(...empty, 'mine 1');
    await place.git(...empty, 'mine 2');
    await place.git('checkout', '--quiet', 'base');
    await place.git(...empty, 'theirs');
    await place.git('checkout', '--quiet', 'main');
    const { status } = { status: await place.service.status(place.target()) };
    expect(status).toMatchObject({ upstream: 'base', upstreamExists: true, ahead: 2, behind: 1 });
    await place.git('branch', '--quiet', '-D', 'base');
    expect(await place.service.status(place.target())).toMatchObject({ upstreamExists: false, ahead: 0 });
    await place.git('checkout', '--quiet', '--detach');
    const head = (await place.git('rev-parse', 'HEAD')).trim();
    expect(await place.service.status(place.target())).toMatchObject({ branch: null, head });
  });

  it('sorts every kind of change into its list', async () => {
    const place = await gitPlace();
    const long = 'a line that is long enough to be known again\n'.repeat(5);
    for (const file of ['edit', 'both', 'gone', 'staged-gone', 'type', 'old name'])
      await place.write(file, `${file}\n${long}`);
    await place.commit('first');
    await place.write('edit', 'edited\n');
    await place.write('both', 'staged\n');
    await place.write('added', 'added\n');
    await place.git('add', 'both', 'added');
    await place.write('both', 'and more\n');
    await rm(join(place.repo, 'gone'));
    await place.git('rm', '--quiet', 'staged-gone');
    await rm(join(place.repo, 'type'));
    await symlink('edit', join(place.repo, 'type'));
    await place.git('mv', 'old name', 'new\tname');
    await place.write('announced', 'x\n');
    await place.git('add', '--intent-to-add', 'announced');
    await place.write('notes/a', '');
    const status = await place.service.status(place.target());
    expect(status.clean).toBe(false);
    expect(status.lists).toEqual({
      staged: ['added', 'both', 'new\tname', 'staged-gone'],
      modified: ['announced', 'both', 'edit', 'type'],
      untracked: ['notes/'],
      deleted: ['gone', 'staged-gone'],
      conflicted: [],
    });
    expect(status.renamed).toEqual([{ from: 'old name', to: 'new\tname' }]);
  });

  it('lists conflicts as conflicts, and changed commits of submodules as modified', async () => {
    const place = await gitPlace();
    await place.gitIn(place.root, 'init', '--quiet', 'sub');
    await place.gitIn(join(place.root, 'sub'), 'commit', '--quiet', '--allow-empty', '-m', 'first');
    await place.git('submodule', '--quiet', 'add', join(place.root, 'sub'), 'sub');
    await place.write('file', 'base\n');
    await place.commit('first');
    await place.git('checkout', '--quiet', '-b', 'other');
    await place.write('file', 'theirs\n');
    await place.git('commit', '--quiet', '-a', '-m', 'theirs');
    await place.git('checkout', '--quiet', 'main');
    await place.write('file', 'ours\n');
    await place.git('commit', '--quiet', '-a', '-m', 'ours');
    await place.git('merge', 'other').catch(() => 'the conflict that is wanted');
    await place.gitIn(join(place.repo, 'sub'), 'commit', '--quiet', '--allow-empty', '-m', 'second');
    const status = await place.service.status(place.target());
    expect(status.lists).toEqual({ ...none, conflicted: ['file'], modified: ['sub'] });
    const diff = await place.service.diff(place.target(), {});
    expect(diff.text).toContain('diff --cc file');
    expect(diff.text).toContain('+Subproject commit');
    const stat = await place.service.diffStat(place.target(), false);
    expect(stat.files).toEqual([
      { file: 'file', insertions: 4, deletions: 0 },
      { file: 'sub', insertions: 1, deletions: 1 },
    ]);
    expect([stat.total.files, status.hasSubmodules]).toEqual([2, true]);
  });

  it('shows odd names unchanged, and escapes bytes that are not UTF-8', async () => {
    const place = await gitPlace();
    const names = [
      ' lead',
      'a "quote"',
      'line\nend',
      'tab\t',
      '日本語 😀',
      '-option',
      'back\\slash',
      ':(top)x',
      '*',
    ];
    for (const name of names) await place.write(name, 'x\n');
    await rename(
      join(place.repo, ' lead'),
      Buffer.concat([Buffer.from(`${place.repo}/latin-`), Buffer.from([0xe9])]),
    );
    const status = await place.service.status(place.target());
    const shown = names.filter((name) => name !== ' lead');
    expect([...status.lists.untracked].sort()).toEqual([...shown, 'latin-\\xe9'].sort());
    expect(status.escaped).toBe(true);
    await place.git('add', '-A');
    const stat = await place.service.diffStat(place.target(), true);
    expect(stat.files.map((one) => one.file).sort()).toEqual([...shown, 'latin-\\xe9'].sort());
    const one = await place.service.diff(place.target(join(place.repo, '*')), { cached: true });
    expect([one.files, one.text.includes('+++ b/*')]).toEqual([1, true]);
    const page = await place.service.diff(place.target(), { cached: true, maxBytes: 1 });
    expect(page.omitted.map((file) => file.file).sort()).toEqual([...shown, 'latin-\\xe9'].sort());
  });

  it('of a part says what the part is, and whether the rest is clean', async () => {
    const place = await gitPlace();
    await place.write('a*/one', '1\n');
    await place.write('b/two', '2\n');
    await place.commit('first');
    const part = join(place.repo, 'a*');
    const statusOf = async (path: string) => {
      const { clean, part: of } = await place.service.status(place.target(path));
      return { clean, of };
    };
    expect(await statusOf(place.repo)).toEqual({ clean: true, of: undefined });
    expect(await statusOf(part)).toEqual({ clean: true, of: { within: 'a*', rest: 'clean' } });
    await place.write('a*/one', '1.1\n');
    expect(await statusOf(part)).toEqual({ clean: false, of: { within: 'a*', rest: 'clean' } });
    expect(await statusOf(join(place.repo, 'b'))).toEqual({
      clean: true,
      of: { within: 'b', rest: 'changed' },
    });
    await place.write('new/file', '');
    expect(await statusOf(part)).toEqual({ clean: false, of: { within: 'a*', rest: 'changed' } });
    expect(await statusOf(join(part, 'one'))).toEqual({
      clean: false,
      of: { within: 'a*/one', rest: 'changed' },
    });
  });

  it('names the files that git compares through a filter, which is not run', async () => {
    const place = await gitPlace();
    const filter = '[filter "up"]\n\tclean = tr a-z A-Z\n[filter "off"]\n\tclean =\n';
    await writeFile(join(place.homeDir, '.gitconfig'), filter);
    await place.write('.gitattributes', '*.up filter=up\n*.off filter=off\n*.none filter=none\n');
    for (const file of ['a.up', 'in/b.up', 'c.off', 'd.none']) await place.write(file, 'text\n');
    await place.commit('first');
    for (const file of ['a.up', 'in/b.up']) await utimes(join(place.repo, file), 1, 1);
    expect(await place.git('--no-optional-locks', 'status', '--porcelain')).toBe('');
    const filtered = ['a.up', 'in/b.up'];
    expect(await place.service.status(place.target())).toMatchObject({ filtered, onlyFiltered: true });
    expect(await place.service.diff(place.target(), {})).toMatchObject({ filtered });
    expect(await place.service.diffStat(place.target(), false)).toMatchObject({ filtered });
    expect(await place.service.status(place.target(join(place.repo, 'in')))).toMatchObject({
      filtered: ['in/b.up', 'a.up'],
      part: { rest: 'unknown' },
    });
    await place.write('c.off', 'other\n');
    await place.write('d.none', 'other\n');
    expect(await place.service.status(place.target())).toMatchObject({ filtered, onlyFiltered: false });
    expect(await place.service.diff(place.target(), { cached: true })).toMatchObject({
      filtered: [],
      text: '',
    });
  });

  it('and diffs show changed files that git was told not to look at', async () => {
    const place = await gitPlace();
    for (const file of ['a', 'b', 'same', 'sub/absent']) await place.write(file, '1\n');
    await place.commit('first');
    await place.git('update-index', '--skip-worktree', 'a', 'same', 'sub/absent');
    await place.git('update-index', '--assume-unchanged', 'b');
    await place.git('config', 'core.sparseCheckout', 'true');
    await rm(join(place.repo, 'sub'), { recursive: true });
    for (const file of ['a', 'b']) await place.write(file, '2\n');
    const { lists } = await place.service.status(place.target());
    expect(lists).toMatchObject({ modified: ['a', 'b'], deleted: [] });
    expect((await place.service.diffStat(place.target(), false)).files).toHaveLength(2);
    expect((await place.service.diff(place.target(), { base: 'HEAD' })).text.match(/^\+2$/gm)).toHaveLength(
      2,
    );
  });

  it.each([
    ['of version 4', ['--index-version', '4'], []],
    ['that is split', ['--split-index'], []],
    ['with a table of its entries', [], ['-c', 'index.threads=2', '-c', 'index.recordOffsetTable=true']],
    ['with names of SHA-256', [], []],
  ])('and diffs show them with an index %s, too', async (kind, args, settings) => {
    const place = await gitPlace();
    if (kind.includes('SHA-256')) {
      await rm(join(place.repo, '.git'), { recursive: true });
      await place.git('init', '--quiet', '--object-format=sha256');
    }
    for (const file of ['a', 'b/1234567', 'b/12345678']) await place.write(file, '1\n');
    await place.write('last', '1\n');
    await place.commit('first');
    const hide = (flag: string) => place.git(...settings, 'update-index', flag, 'last');
    await place.git(...settings, 'update-index', ...args, '--force-write-index');
    await place.write('last', '2\n');
    const modified = async () => (await place.service.status(place.target())).lists.modified;
    expect(await modified()).toEqual(['last']);
    await hide('--assume-unchanged');
    expect(await modified()).toEqual(['last']);
    await hide('--no-assume-unchanged');
    await hide('--skip-worktree');
    expect(await modified()).toEqual(['last']);
    expect((await place.service.diff(place.target(), {})).text).toContain('+2');
  });

  it('and diffs are those of the settings that hold now, not of the call before', async () => {
    const place = await gitPlace();
    await place.write('run', '1\n');
    await place.commit('first');
    await chmod(join(place.repo, 'run'), 0o755);
    const modified = async () => (await place.service.status(place.target())).lists.modified;
    for (const [fileMode, found] of [
      ['true', ['run']],
      ['false', []],
      ['true', ['run']],
    ] as const) {
      await place.git('config', 'core.fileMode', fileMode);
      expect(await modified()).toEqual(found);
    }
    await place.git('config', 'core.worktree', place.homeDir);
    await expect(modified()).rejects.toThrow('core.worktree');
  });

  it('goes with counts that have git’s modes where they changed, and where links point', async () => {
    const place = await gitPlace();
    const at = (file: string): string => join(place.repo, file);
    for (const file of ['run', 'to-link']) await place.write(file, `${file}\n`);
    for (const link of ['link', 'to-file']) await symlink('run', at(link));
    await place.commit('first');
    await chmod(at('run'), 0o755);
    for (const file of ['link', 'to-file', 'to-link']) await rm(at(file));
    await place.write('to-file', '2\n');
    await symlink('+++ b/x', at('link'));
    await symlink('../out\nside', at('to-link'));
    const modes = {
      link: { link: '+++ b/x' },
      run: { old_mode: '100644', new_mode: '100755' },
      'to-file': { old_mode: '120000', new_mode: '100644' },
      'to-link': { old_mode: '100644', new_mode: '120000', link: '../out\nside' },
    };
    const modesOf = ({ files }: DiffStat): unknown =>
      Object.fromEntries(
        files.map(({ file, old_mode, new_mode, link }) => [file, { old_mode, new_mode, link }]),
      );
    expect(modesOf(await place.service.diffStat(place.target(), false))).toEqual(modes);
    await place.write('new', '#!');
    await chmod(at('new'), 0o755);
    await place.git('add', '.');
    const staged = { ...modes, new: { new_mode: '100755' } };
    expect(modesOf(await place.service.diffStat(place.target(), true))).toEqual(staged);
    await place.git('commit', '--quiet', '-m', 'second');
    const { facts } = await place.service.show(place.target(), { revision: 'HEAD' });
    expect(facts && modesOf(facts.stat)).toEqual(staged);
  });

  it('writes nothing: no lock, no index', async () => {
    const place = await gitPlace();
    await place.write('a', '1\n');
    await place.commit('first');
    await place.write('.git/index.lock', '');
    await place.write('a', '2\n');
    expect((await place.service.status(place.target())).lists.modified).toEqual(['a']);
    expect((await place.service.diff(place.target(), {})).text).toContain('+2');
  });

  it('agrees with git’s own output, on generated changes', async () => {
    const place = await gitPlace();
    const files = ['a', 'b c', 'd/e', 'd/f\tg'];
    const step = fc.record({
      file: fc.constantFrom(...files),
      what: fc.constantFrom('write', 'remove', 'stage', 'commit'),
      text: fc.constantFrom('1\n', '2\n2\n', '3\n3\n3', 'x\0y'),
    });
    await place.git('commit', '--quiet', '--allow-empty', '-m', 'first');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        for (const { file, what, text } of steps) {
          if (what === 'write') await place.write(file, text);
          else if (what === 'remove') await rm(join(place.repo, file), { force: true });
          else await place.git('add', '-A');
          if (what === 'commit') await place.git('commit', '--quiet', '--allow-empty', '-m', 'next');
        }
        const status = await place.service.status(place.target());
        const words = await place.git('-c', 'core.quotePath=false', 'status');
        expect(status.clean).toBe(words.includes('working tree clean'));
        const short = (await place.git('status', '--short', '-z')).split('\0').filter((line) => line !== '');
        // The old name of a rename stands alone, and may be there again as a file of its own.
        const human = new Set(short.map((line) => (/^[ MADRC?]{2} /.test(line) ? line.slice(3) : line)));
        const changed = new Set([
          ...Object.values(status.lists).flat(),
          ...status.renamed.map((pair) => pair.from),
        ]);
        expect([...changed].sort()).toEqual([...human].sort());
        for (const cached of [false, true]) {
          const flags = cached ? ['--cached'] : [];
          const stat = await place.service.diffStat(place.target(), cached);
          const total = (await place.git('diff', '--shortstat', '--find-renames', ...flags)).trim();
          expect(stat.summary).toBe(total === '' ? 'No changes' : total);
          const diff = await place.service.diff(place.target(), { cached });
          expect(diff.text).toBe(await place.git('diff', '--find-renames', ...flags));
        }
      }),
      { numRuns: rounds(15) },
    );
  });
});
