import { rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it, test } from 'vitest';
import type { TextSources } from '../../../src/board/changed-texts.js';
import { gitServices } from '../../../src/services/git-services.js';
import type { FilesPatchQuery } from '../../../src/git/diff/files-patch.js';
import type { TaskPatch } from '../../../src/tasks/receipt/task-patch.js';
import { bridgeOptions } from '../../services/bridge-options.js';
import { gitPlace, type GitPlace } from '../../git/git-harness.js';
import { FakeTaskService, TASK_ID, taskRecord } from '../../tools/fake-task-service.js';
import { serveBoard, TestPage } from '../../board/serve-board.js';

let place: GitPlace;
let first: string;

beforeEach(async () => {
  place = await gitPlace();
  await place.write('a.js', 'let a;\n');
  await place.write('same.js', 'stays\n');
  await place.commit('first');
  first = (await place.git('rev-parse', 'HEAD')).trim();
});

function sourcesOf(patch: TaskPatch): TextSources {
  const { readPatch, readSide } = gitServices(bridgeOptions(place.homeDir), place.parts.roots);
  return { patchOf: async () => patch, readPatch, readSide };
}

/** What a page gets that asks for one side of a file. */
async function answerTo(
  file: string,
  side: 'old' | 'new',
  query: Partial<FilesPatchQuery>,
): Promise<unknown> {
  const whole = { repository: place.repo, base: first, ...query };
  const board = await serveBoard(
    new FakeTaskService(taskRecord()),
    sourcesOf({ state: 'patch', query: whole, notes: [] }),
  );
  const page = await TestPage.open(board);
  page.send({ type: 'dispatch', id: 1, action: { type: 'file.read', task_id: TASK_ID, file, side } });
  const { ok, file: read, error } = await page.message('result');
  return ok === true ? read : error;
}

const refused = {
  code: 'INVALID_ARGUMENTS',
  message: 'The file is not one that the task changed.',
  hint: 'Read the changes again.',
};

it('gives the text before from the commit, and the text now from the folder with its place there', async () => {
  await place.write('a.js', 'const a = 1;\r\n');
  const files = ['a.js'];
  expect(await answerTo('a.js', 'old', { files })).toEqual({ text: 'let a;\n', path: null, why: null });
  expect(await answerTo('a.js', 'new', { files })).toEqual({
    text: 'const a = 1;\r\n',
    path: join(place.repo, 'a.js'),
    why: null,
  });
});

it('gives the text of a commit without a place on disk when the work is committed', async () => {
  await place.write('a.js', 'const a = 1;\n');
  await place.git('commit', '--quiet', '-a', '-m', 'second');
  await place.write('a.js', 'later\n');
  const query = { files: ['a.js'], end: 'HEAD' };
  expect(await answerTo('a.js', 'new', query)).toEqual({ text: 'const a = 1;\n', path: null, why: null });
});

it('says of a side that does not have the file that it is missing', async () => {
  await place.write('new.js', '');
  await rm(join(place.repo, 'a.js'));
  const files = ['a.js', 'new.js'];
  const missing = { text: null, path: null, why: 'missing' };
  expect(await answerTo('new.js', 'old', { files })).toEqual(missing);
  expect(await answerTo('a.js', 'new', { files })).toEqual(missing);
  expect(await answerTo('new.js', 'new', { files })).toMatchObject({ text: '', why: null });
});

test.each([
  ['bytes that are not UTF-8', Buffer.from([0x61, 0xff]), 'binary'],
  ['a null byte', 'a\0b', 'binary'],
  ['more than 2 MB', 'x'.repeat(2 * 1024 * 1024 + 1), 'too_large'],
])('of a file with %s only its place is given', async (_name, content, why) => {
  await place.write('a.js', content);
  const path = join(place.repo, 'a.js');
  expect(await answerTo('a.js', 'new', { files: ['a.js'] })).toEqual({ text: null, path, why });
});

it.each(['old', 'new'] as const)('refuses a file that is not in the patch, on the %s side', async (side) => {
  await place.write('a.js', 'const a = 1;\n');
  await place.git('commit', '--quiet', '-a', '-m', 'second');
  expect(await answerTo('same.js', side, { files: ['a.js'] })).toEqual(refused);
  // The patch of a finished worktree names no files.
  expect(await answerTo('same.js', side, { end: 'HEAD' })).toEqual(refused);
  expect(await answerTo('a.js', side, { end: 'HEAD' })).toMatchObject({ why: null });
  for (const file of ['../repo/a.js', '/etc/hostname', 'a/../../outside.js'])
    expect(await answerTo(file, side, { end: 'HEAD' })).toEqual(refused);
});

it('refuses a link that leads out of the allowed roots', async () => {
  await rm(join(place.repo, 'a.js'));
  await symlink('/etc/hostname', join(place.repo, 'a.js'));
  expect(await answerTo('a.js', 'new', { files: ['a.js'] })).toMatchObject({ code: 'PATH_NOT_ALLOWED' });
});

it('knows a renamed file by its old name on the old side alone', async () => {
  await place.git('mv', 'a.js', 'b.js');
  await place.git('commit', '--quiet', '-m', 'moved');
  const query = { end: 'HEAD' };
  expect(await answerTo('a.js', 'old', query)).toMatchObject({ text: 'let a;\n' });
  expect(await answerTo('b.js', 'new', query)).toMatchObject({ text: 'let a;\n' });
  expect(await answerTo('a.js', 'new', query)).toEqual(refused);
  expect(await answerTo('b.js', 'old', query)).toEqual(refused);
});
