import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test, onTestFinished } from 'vitest';
import { createTaskId } from '../../src/base/ids.js';
import { openStateDir } from '../../src/store/state-dir.js';
import { tempFolder } from '../harness/temp-folder.js';

const HINT = 'Repair it, or set MCP_STATE_DIR to a writable folder of your own, and restart the bridge.';
let folder: string;
beforeEach(async () => {
  folder = await tempFolder();
});

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('openStateDir', () => {
  test('creates the folder with its parents, for the owner only', async () => {
    const path = join(folder, 'a', 'b');
    const state = await openStateDir({ path });
    expect(await Promise.all([join(folder, 'a'), path, state.tasksDir, state.lockDir].map(modeOf))).toEqual([
      0o700, 0o700, 0o700, 0o700,
    ]);
  });

  test('refuses a folder with files of others, also with a machine.json of theirs, and changes nothing in it', async () => {
    for (const name of ['index.html', 'tasks', 'machine.json']) {
      const path = join(folder, `with ${name}`);
      await mkdir(path, { mode: 0o755 });
      await writeFile(join(path, name), '{}');
      await expect(openStateDir({ path })).rejects.toMatchObject({
        code: 'STATE_UNUSABLE',
        message: expect.stringContaining(
          `The folder ${path} holds files and is no state directory`,
        ) as unknown,
        hint: expect.stringContaining('a new or an empty folder') as unknown,
      });
      expect(await modeOf(path)).toBe(0o755);
      expect(await readdir(path)).toEqual([name]);
    }
  });

  test('takes a folder that others may enter when it is its own', async () => {
    const path = join(folder, 'own');
    await openStateDir({ path });
    await chmod(path, 0o755);
    await openStateDir({ path });
    expect(await modeOf(path)).toBe(0o700);
  });

  test('takes a private folder in which an earlier process has made its first folders', async () => {
    const path = join(folder, 'begun');
    await mkdir(join(path, 'editors'), { recursive: true, mode: 0o700 });
    await openStateDir({ path });
    expect(await readdir(path)).toEqual(['editors', 'locks', 'machine.json', 'tasks']);
  });

  test('opens for many at the same time, also a folder that was there and empty', async () => {
    for (let round = 0; round < 20; round++) {
      const path = join(folder, `many-${round}`);
      if (round % 2 === 0) await mkdir(path, { mode: 0o755 });
      await Promise.all(Array.from({ length: 8 }, () => openStateDir({ path })));
      expect(await readdir(path)).toEqual(['locks', 'machine.json', 'tasks']);
    }
  });

  test('refuses a link, a file and a relative path, each by name', async () => {
    const [link, file] = [join(folder, 'link'), join(folder, 'file')];
    await symlink(folder, link);
    await writeFile(file, '');
    await expect(openStateDir({ path: link })).rejects.toMatchObject({
      code: 'STATE_UNUSABLE',
      message: `The folder ${link} is a link, not a folder.`,
      hint: HINT,
    });
    await expect(openStateDir({ path: file })).rejects.toThrow(`The folder ${file} is a file, not a folder.`);
    await expect(openStateDir({ path: join(file, 'below') })).rejects.toThrow(/cannot be created: ENOTDIR/);
    await expect(openStateDir({ path: 'state' })).rejects.toThrow('state is not an absolute path');
  });

  test('refuses a folder of another user', async () => {
    const uid = (await stat(folder)).uid;
    await expect(openStateDir({ path: folder, uid: uid + 1 })).rejects.toThrow(
      `The folder ${folder} belongs to user ${uid}, and the bridge runs as user ${uid + 1}.`,
    );
  });
});

describe('StateDir', () => {
  test('lets nothing but a task id become a path', async () => {
    const state = await openStateDir({ path: folder });
    for (const id of ['', '..', '../locks', 'task_0123456789abcdef0123/../x', 'task_1\n']) {
      expect(() => state.recordFile(id)).toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
      await expect(state.removeTaskDir(id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    }
    expect(await readdir(folder)).toEqual(['locks', 'machine.json', 'tasks']);
  });

  test('knows that what a Mac left when its power failed is gone, also where its pid is in use again', async () => {
    const state = await openStateDir({ path: join(folder, 'state') });
    // No socket says it there, and none on this machine then.
    await writeFile(join(state.path, 'presence'), '');
    const { platform } = process;
    onTestFinished(() => void Object.defineProperty(process, 'platform', { value: platform }));
    const id = createTaskId(0);
    await mkdir(state.taskDir(id));
    const earlier = `${process.pid} Mon Jan 1 ffffffffffffffff`;
    await symlink(earlier, join(state.taskDir(id), 'started-by'));
    expect(await state.isStarting(id)).toBe(true);
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    expect(await state.isStarting(id)).toBe(false);
  });

  test('lists tasks by the time in their ids, newest first, and skips foreign names', async () => {
    const state = await openStateDir({ path: folder });
    const ids = ['task_01000000001aaaaaaaaa', 'task_00ffffffffeccccccccc', 'task_00ffffffffebbbbbbbbb'];
    for (const id of [...ids].reverse()) expect(await modeOf(await state.createTaskDir(id))).toBe(0o700);
    await mkdir(join(state.tasksDir, 'notes'));
    await writeFile(join(state.tasksDir, createTaskId(Date.now())), 'a file');
    await symlink(folder, join(state.tasksDir, createTaskId(Date.now())));
    expect(await state.listTaskIds()).toEqual(ids);
  });

  test('removes a task with all its files, and follows no link', async () => {
    const state = await openStateDir({ path: folder });
    const id = createTaskId(Date.now());
    const dir = await state.createTaskDir(id);
    await symlink(state.lockDir, join(dir, 'link'));
    await writeFile(join(state.lockDir, 'kept'), '');
    await state.removeTaskDir(id);
    await state.removeTaskDir(id);
    expect(await state.listTaskIds()).toEqual([]);
    expect(await readdir(state.lockDir)).toEqual(['kept']);
  });
});
