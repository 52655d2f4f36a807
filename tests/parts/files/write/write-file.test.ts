import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, link, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { BridgeError } from '../../../../src/base/errors.js';
import type { Once } from '../../../../src/base/once.js';
import { systemClock } from '../../../../src/base/system-clock.js';
import type { FilesystemService } from '../../../../src/files/filesystem-service.js';
import { Requests } from '../../../../src/store/requests.js';
import { tempFolder } from '../../../harness/temp-folder.js';
import { faultOf, filesAt } from '../../../files/file-service.js';
import { rounds } from '../../../harness/rounds.js';
import { untilTheEnd } from '../../../harness/swapper.js';

let base: string;
let root: string;
let outside: string;
let files: FilesystemService;

beforeEach(async () => {
  base = await tempFolder();
  root = join(base, 'root');
  outside = join(base, 'outside');
  await mkdir(root);
  await mkdir(outside);
  ({ files } = filesAt(root));
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('write_file', () => {
  test.each<readonly [string, Buffer]>([
    ['utf-8-bom', Buffer.from('\ufeffname;value\r\nx;1\r\n')],
    ['utf-16le', Buffer.from('\ufeffhello wörld 🙂\r\n', 'utf16le')],
    ['utf-16be', Buffer.from('\ufeffhello wörld\n', 'utf16le').swap16()],
    ['latin-1', Buffer.from('caf\u00e9 \u00a0\r\n', 'latin1')],
    ['utf-8', Buffer.from('no mark, \ufeff inside\n')],
    ['utf-16be', Buffer.from('\ufeff\ufefftwo marks\n', 'utf16le').swap16()],
  ])(
    'keeps the encoding of a text in %s: what was read and is written back is the same file',
    async (encoding, bytes) => {
      const path = join(root, 'text');
      await writeFile(path, bytes);
      const { content, sha256: expectedSha256 } = await files.readFile({ path, maxBytes: 10_000 });
      const written = await files.writeFile({ path, content, expectedSha256 });
      expect(written).toMatchObject({ encoding, sizeBytes: bytes.length, sha256: expectedSha256 });
      expect(await readFile(path)).toEqual(bytes);
    },
  );

  test('with a request id writes once: what others wrote since stays', async () => {
    const { once } = new Requests(join(base, 'state'), systemClock);
    const path = join(root, 'text');
    const write = () => filesAt(root, { once }).files.writeFile({ path, content: 'mine', requestId: 'r' });
    const first = await Promise.all([write(), write()]);
    expect(first.map(({ created }) => created)).toEqual([true, true]);
    await writeFile(path, 'theirs');
    expect(await write()).toEqual(first[0]);
    expect(await readFile(path, 'utf8')).toBe('theirs');
    const other = filesAt(root, { once }).files.writeFile({ path, content: 'other', requestId: 'r' });
    expect(await faultOf(other)).toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });

  test.each([
    ['is done again where the new content was not put in its place', 'mine'],
    ['is not done again where it was', 'theirs'],
  ])('with a request id whose server was killed %s', async (_, expected) => {
    const { once } = new Requests(join(base, 'state'), systemClock);
    const path = join(root, 'text');
    const file = { path, content: 'mine', requestId: 'r' };
    let temporary = '';
    const dies: Once = (id, asked, shapes, act) =>
      once(id, asked, shapes, (note, noted) =>
        act(async (value) => {
          await note(value);
          ({ temporary } = z.object({ temporary: z.string() }).parse(value));
          throw new Error('killed');
        }, noted),
      );
    await expect(filesAt(root, { once: dies }).files.writeFile(file)).rejects.toThrow('killed');
    await writeFile(expected === 'mine' ? temporary : path, 'theirs');
    const written = await filesAt(root, { once }).files.writeFile(file);
    expect(written).toEqual({ path, sizeBytes: 4, sha256: sha256('mine'), created: true, encoding: 'utf-8' });
    expect(await readFile(path, 'utf8')).toBe(expected);
  });

  test('names the file beside a new one whose name looks the same', async () => {
    await writeFile(join(root, 'cafe\u0301.txt'), 'old');
    const written = await files.writeFile({ path: join(root, 'caf\u00e9.txt'), content: 'new' });
    expect(written).toMatchObject({ created: true, alike: `"${root}/cafe\\u0301.txt"` });
    expect(await files.writeFile({ path: join(root, 'b.txt'), content: 'new' })).not.toHaveProperty('alike');
    for (const name of ['b\u200b.txt', 'b.txt\ufe0f', '\u2060b.t\u0007xt', 'b.txt '])
      expect((await faultOf(files.readFile({ path: join(root, name), maxBytes: 100 }))).hint).toContain(
        `Did you mean "${root}/b.txt"`,
      );
  });

  test('refuses a character that the encoding of the file has not, and names it', async () => {
    const path = join(root, 'latin.txt');
    const bytes = Buffer.from('caf\u00e9\n', 'latin1');
    await writeFile(path, bytes);
    const fault = await faultOf(files.writeFile({ path, content: 'café 5 €\n' }));
    expect(fault.code).toBe('INVALID_ARGUMENTS');
    expect(fault.message).toContain('is in latin-1, which has no "€" (U+20AC). Nothing was written.');
    expect(await readFile(path)).toEqual(bytes);
  });

  test('refuses to write U+FFFD where bytes were misread, also behind a long beginning', async () => {
    const path = join(root, 'mixed.txt');
    const mixed = (start: string) =>
      Buffer.concat([Buffer.from(start), Buffer.from('caf\u00e9\n', 'latin1')]);
    const odd = Buffer.from('\ufeffa\nb', 'utf16le');
    const halves = [odd, Buffer.from(odd).swap16()].map((bytes) => bytes.subarray(0, -1));
    for (const bytes of [mixed('grüße grüße grüße\n'), mixed('x'.repeat(1_100_000)), ...halves]) {
      await writeFile(path, bytes);
      const { content, truncated } = await files.readFile({ path, maxBytes: 10_000 });
      const fault = await faultOf(files.writeFile({ path, content: truncated ? '\ufffd' : content }));
      expect(fault.message).toContain('has bytes that are not valid utf-');
      expect(await readFile(path)).toEqual(bytes);
    }
  });

  test('keeps the permissions of the file that it replaces', async () => {
    const path = join(root, 'run.sh');
    await writeFile(path, 'old');
    await chmod(path, 0o750);
    await files.writeFile({ path, content: 'new' });
    expect((await stat(path)).mode & 0o777).toBe(0o750);
  });

  test('replaces a hard link: its other name keeps the old content', async () => {
    await writeFile(join(outside, 'a'), 'old');
    await link(join(outside, 'a'), join(root, 'a'));
    await files.writeFile({ path: join(root, 'a'), content: 'new' });
    expect(await readFile(join(root, 'a'), 'utf8')).toBe('new');
    expect(await readFile(join(outside, 'a'), 'utf8')).toBe('old');
  });

  test('follows a link that stays inside, and refuses one to outside, even a dangling one', async () => {
    await writeFile(join(root, 'real'), 'old');
    await symlink('real', join(root, 'link'));
    expect((await files.writeFile({ path: join(root, 'link'), content: 'new' })).path).toBe(
      join(root, 'real'),
    );
    expect(await readlink(join(root, 'link'))).toBe('real');
    await writeFile(join(outside, 'there'), 'kept');
    for (const name of ['there', 'none']) {
      await symlink(join(outside, name), join(root, `to-${name}`));
      const error = await faultOf(files.writeFile({ path: join(root, `to-${name}`), content: 'x' }));
      expect(error.code).toBe('PATH_NOT_ALLOWED');
    }
    await symlink(outside, join(root, 'folder'));
    expect((await faultOf(files.writeFile({ path: join(root, 'folder/new/x'), content: 'x' }))).code).toBe(
      'PATH_NOT_ALLOWED',
    );
    expect(await readdir(outside)).toEqual(['there']);
    expect(await readFile(join(outside, 'there'), 'utf8')).toBe('kept');
  });

  test('refuses anything but a regular file', async () => {
    await mkdir(join(root, 'folder'));
    await promisify(execFile)('mkfifo', [join(root, 'pipe')]);
    await writeFile(join(root, 'file'), '');
    const code = async (name: string) =>
      (await faultOf(files.writeFile({ path: join(root, name), content: 'x' }))).code;
    expect(await code('folder')).toBe('NOT_A_FILE');
    expect(await code('pipe')).toBe('NOT_A_FILE');
    expect(await code('file/below')).toBe('NOT_A_DIRECTORY');
    const slash = await faultOf(files.writeFile({ path: `${root}/new/`, content: 'x' }));
    expect(slash.code).toBe('NOT_A_FILE');
  });

  test('expected content is compared: a difference is reported, and nothing is written', async () => {
    const path = join(root, 'a');
    const write = (content: string, expectedSha256: string) =>
      files.writeFile({ path, content, expectedSha256 });
    const missing = await faultOf(write('x', sha256('one')));
    expect(missing.code).toBe('FILE_CHANGED');
    expect(missing.message).toContain('it does not exist');
    await writeFile(path, 'two');
    const differs = await faultOf(write('x', sha256('one')));
    expect(differs.message).toBe(
      `Path '${path}' does not have the expected content (sha256 ${sha256('one')}): its content now has the sha256 ${sha256('two')}. Nothing was written.`,
    );
    expect(await readFile(path, 'utf8')).toBe('two');
    await write('three', sha256('two').toUpperCase());
    expect(await readFile(path, 'utf8')).toBe('three');
    const deep = join(root, 'not/there');
    await faultOf(files.writeFile({ path: deep, content: 'x', expectedSha256: sha256('') }));
    expect(await readdir(root)).toEqual(['a']);
  });

  test('of several writers that expect the same content one wins, each time', async () => {
    const path = join(root, 'a');
    await writeFile(path, 'old');
    for (let round = 0; round < 10; round++) {
      const before = await readFile(path, 'utf8');
      const contents = Array.from({ length: 20 }, (_, at) => `round ${round}, writer ${at}`);
      const all = await Promise.allSettled(
        contents.map((content) => files.writeFile({ path, content, expectedSha256: sha256(before) })),
      );
      const winners = contents.filter((_, at) => all[at]?.status === 'fulfilled');
      expect(winners).toEqual([await readFile(path, 'utf8')]);
    }
    expect(await readdir(root)).toEqual(['a']);
  });

  test('a file that runs later or instructs later sessions is protected, unless the setting allows it', async () => {
    await mkdir(join(root, '.git/hooks'), { recursive: true });
    await mkdir(join(root, 'elsewhere'));
    await symlink('../elsewhere', join(root, '.git/link'));
    await symlink('.git', join(root, 'plain'));
    const names = [
      '.git/hooks/pre-commit',
      '.GIT/config',
      '.git',
      '.g\u200cit/config',
      '.git/link/x',
      'plain/config',
      'sub/.claude/settings.json',
      '.mcp.json',
      'sub/Claude.md',
    ];
    for (const name of names) {
      const error = await faultOf(files.writeFile({ path: join(root, name), content: 'x' }));
      expect(error.code, name).toBe('PROTECTED_PATH');
    }
    expect((await faultOf(files.createDirectory(join(root, '.git/hooks/x')))).code).toBe('PROTECTED_PATH');
    await mkdir(join(root, '.claude/worktrees/one'), { recursive: true });
    for (const name of ['package.json', '.claude/worktrees/one/a.md', 'settings.json'])
      await files.writeFile({ path: join(root, name), content: 'x' });
    const { files: allowed } = filesAt(root, { allowProtectedWrites: true });
    await allowed.writeFile({ path: join(root, '.mcp.json'), content: '{}' });
    // A root that lies in such a folder was named by the user.
    const { files: within } = filesAt(join(root, '.claude/worktrees'));
    await within.writeFile({ path: join(root, '.claude/worktrees/plain.md'), content: 'x' });
  });

  test('a file with a protected name through a link is refused by its other name, too', async () => {
    await mkdir(join(root, 'app/.git'), { recursive: true });
    await mkdir(join(root, 'app/cc'));
    await symlink('cc', join(root, 'app/.claude'));
    await symlink('../githooks', join(root, 'app/.git/hooks'));
    await symlink('docs/agents.md', join(root, 'app/CLAUDE.md'));
    for (const name of ['cc/settings.json', 'githooks/pre-commit', 'docs/agents.md']) {
      const error = await faultOf(files.writeFile({ path: join(root, 'app', name), content: 'x' }));
      expect(error.code, name).toBe('PROTECTED_PATH');
    }
    expect((await faultOf(files.createDirectory(join(root, 'app/cc/agents')))).code).toBe('PROTECTED_PATH');
    await files.writeFile({ path: join(root, 'app/docs/other.md'), content: 'x' });
    const { files: allowed } = filesAt(root, { allowProtectedWrites: true });
    await allowed.writeFile({ path: join(root, 'app/cc/settings.json'), content: '{}' });
  });

  test('a missing root, half a character and a name that is too long are reported', async () => {
    const { files: later } = filesAt(join(base, 'later'));
    expect((await faultOf(later.writeFile({ path: join(base, 'later/x'), content: '' }))).code).toBe(
      'PATH_NOT_FOUND',
    );
    const half = await faultOf(files.writeFile({ path: join(root, 'x'), content: 'a\ud800' }));
    expect(half.code).toBe('INVALID_ARGUMENTS');
    await faultOf(files.writeFile({ path: join(root, 'x'.repeat(256)), content: '' }));
    expect(await readdir(root)).toEqual([]);
  });
});

test('create_directory reports what really happened', async () => {
  const path = join(root, 'one/two');
  expect(await files.createDirectory(path)).toEqual({ path, created: true });
  expect(await files.createDirectory(`${path}/`)).toEqual({ path, created: false });
  await writeFile(join(root, 'file'), '');
  expect((await faultOf(files.createDirectory(join(root, 'file')))).code).toBe('NOT_A_DIRECTORY');
  expect((await faultOf(files.createDirectory(join(root, 'file/x')))).code).toBe('NOT_A_DIRECTORY');
  expect((await faultOf(files.createDirectory(join(outside, 'x')))).code).toBe('PATH_NOT_ALLOWED');
  const same = join(root, 'same/a/b');
  const all = await Promise.all(Array.from({ length: 10 }, () => files.createDirectory(same)));
  expect(all.filter((one) => one.created).length).toBeGreaterThan(0);
});

describe.runIf(process.platform === 'linux')('while another process swaps a folder for a link', () => {
  test('nothing is written, created or read outside', async () => {
    await mkdir(join(root, 'real'));
    await writeFile(join(root, 'real/file'), 'inside');
    await writeFile(join(outside, 'file'), 'secret');
    await symlink('real', join(root, 'folder'));
    const program = `
      const { renameSync, symlinkSync } = require('node:fs');
      const [place, spare, ...targets] = process.argv.slice(1);
      process.stdout.write('ready');
      for (let turn = 0; ; turn++) {
        symlinkSync(targets[turn % 2], spare);
        renameSync(spare, place);
      }`;
    const places = [join(root, 'folder'), join(root, 'spare'), 'real', outside];
    await untilTheEnd(program, places);
    let written = 0;
    const seen = new Set<string>();
    for (let turn = 0; turn < rounds(1_000); turn++) {
      const path = join(root, 'folder', turn % 3 === 0 ? 'file' : `new-${turn % 7}`);
      try {
        if (turn % 5 === 0) await files.createDirectory(join(root, `folder/made-${turn % 11}`));
        await files.writeFile({ path, content: 'inside' });
        written++;
        seen.add((await files.readFile({ path: join(root, 'folder/file'), maxBytes: 1_000 })).content);
      } catch (thrown) {
        if (!(thrown instanceof BridgeError)) throw thrown;
      }
    }
    expect(await readdir(outside)).toEqual(['file']);
    expect(await readFile(join(outside, 'file'), 'utf8')).toBe('secret');
    expect(written).toBeGreaterThan(0);
    expect([...seen].filter((text) => text !== 'inside')).toEqual([]);
  }, 90_000);
});
