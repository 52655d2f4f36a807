import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { readFileSide, type FileSideQuery } from '../../../src/git/diff/file-side.js';
import { PathOpener } from '../../../src/projects/path-opener.js';
import { gitPlace, type GitPlace } from '../../git/git-harness.js';

const { signal } = new AbortController();
const OLD = Buffer.from([0, 1, 2, 255]);
const NEW = Buffer.from([9, 0, 10, 13, 254]);
let place: GitPlace;
let first: string;

beforeEach(async () => {
  place = await gitPlace();
  await place.write('a.png', OLD);
  await place.git('add', '.');
  await place.git('commit', '--quiet', '-m', 'first');
  first = (await place.git('rev-parse', 'HEAD')).trim();
});

function read(query: Partial<FileSideQuery>): Promise<Buffer | undefined> {
  const all = { repository: place.repo, base: first, files: ['a.png'], file: 'a.png', maxBytes: 1_000 };
  const parts = { ...place.parts, opener: new PathOpener(place.parts.roots) };
  return readFileSide(parts, { ...all, side: 'new', ...query }, signal);
}

it('a file is read byte by byte as it was in the commit before, and as it is on disk', async () => {
  await place.write('a.png', NEW);
  expect(await read({ side: 'old' })).toEqual(OLD);
  expect(await read({})).toEqual(NEW);
});

it('a file that did not change is not read from the working tree', async () => {
  await place.write('.env', 'SECRET=1');
  await expect(read({ file: '.env' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
});

it.each(['../outside.png', '/etc/hostname', 'a/../../outside.png', 'a\0.png'])(
  '%j is no name of a file in the repository',
  async (file) => {
    await expect(read({ file, files: [file] })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
    await expect(read({ file, side: 'old' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  },
);

it('a link that leads out of the allowed roots is refused', async () => {
  await rm(join(place.repo, 'a.png'));
  await symlink('/etc/hostname', join(place.repo, 'a.png'));
  await expect(read({})).rejects.toMatchObject({ code: 'PATH_NOT_ALLOWED' });
});

it('a file with more bytes than are shown is refused on both sides', async () => {
  await place.write('a.png', NEW);
  await expect(read({ maxBytes: 3 })).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
  await expect(read({ side: 'old', maxBytes: 3 })).rejects.toMatchObject({ code: 'FILE_TOO_LARGE' });
});
