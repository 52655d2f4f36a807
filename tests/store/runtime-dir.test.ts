import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRuntimeDir, RuntimeDir } from '../../src/store/runtime-dir.js';

const uid = process.getuid?.() ?? 0;
const taskId = 'task_0123456789abcdef0123';
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rt-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('openRuntimeDir', () => {
  test('uses XDG_RUNTIME_DIR, for the owner only', async () => {
    const dir = await openRuntimeDir({ xdgRuntimeDir: folder, tmpDir: '/nowhere', uid, statePath: folder });
    expect(dir.path).toBe(join(folder, 'ccb'));
    expect((await stat(dir.path)).mode & 0o777).toBe(0o700);
    expect(dir.socketPath(taskId)).toBe(join(folder, 'ccb', '0123456789abcdef0123.sock'));
  });

  test.each([undefined, '/nowhere/at/all', 'relative'])(
    'uses the temp folder when XDG_RUNTIME_DIR is %s',
    async (xdgRuntimeDir) => {
      const dir = await openRuntimeDir({ xdgRuntimeDir, tmpDir: folder, uid, statePath: folder });
      expect(dir.path).toBe(join(folder, `ccb-${uid}`));
    },
  );

  test('ignores an XDG_RUNTIME_DIR of another user', async () => {
    const places = { xdgRuntimeDir: folder, tmpDir: join(folder, 'tmp'), uid: uid + 1, statePath: folder };
    await expect(openRuntimeDir(places)).rejects.toThrow(
      `The folder ${folder}/tmp/ccb-${uid + 1} belongs to user ${uid}`,
    );
  });

  test.each([
    { what: 'link', take: (path: string) => symlink('/etc', path) },
    { what: 'file', take: (path: string) => writeFile(path, '') },
  ])('takes a secret name, the same for all servers, when a $what has the usual one', async ({ take }) => {
    await take(join(folder, `ccb-${uid}`));
    const places = { tmpDir: folder, uid, statePath: folder };
    const first = await openRuntimeDir(places);
    expect(first.path).toMatch(new RegExp(`^${folder}/ccb-${uid}-.{6}$`));
    expect((await stat(first.path)).mode & 0o777).toBe(0o700);
    expect((await openRuntimeDir(places)).path).toBe(first.path);
    // Gone with the next start of the machine.
    await rm(first.path, { recursive: true });
    const second = await openRuntimeDir(places);
    expect(second.path).not.toBe(first.path);
    expect((await stat(second.path)).isDirectory()).toBe(true);
  });

  test('takes a secret name when the folder of the usual one belongs to another user', async () => {
    const [other, own] = uid === 0 ? [uid, 65_534] : [uid, uid + 1];
    await mkdir(join(folder, `ccb-${own}`));
    expect((await stat(join(folder, `ccb-${own}`))).uid).toBe(other);
    const opened = await openRuntimeDir({ tmpDir: folder, uid: own, statePath: folder });
    expect(opened.path).toMatch(new RegExp(`/ccb-${own}-.{6}$`));
  });

  test('reports when no folder can be created in the temp folder', async () => {
    const tmpDir = join(folder, 'none');
    await writeFile(tmpDir, '');
    const opening = openRuntimeDir({ tmpDir, uid, statePath: folder });
    await expect(opening).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
    await expect(opening).rejects.toThrow(`${tmpDir}/ccb-${uid} cannot be created`);
  });
});

describe('socketPath', () => {
  test('refuses a path that does not fit into a socket address, and says what to set', () => {
    const dir = new RuntimeDir(`/${'é'.repeat(40)}`);
    expect(() => dir.socketPath(taskId)).toThrow(expect.objectContaining({ code: 'STATE_UNUSABLE' }));
    expect(() => dir.socketPath(taskId)).toThrow('is 107 bytes long');
    expect(Buffer.byteLength(new RuntimeDir(`/${'a'.repeat(73)}`).socketPath(taskId))).toBe(100);
  });

  test('lets nothing but a task id become a path', () => {
    expect(() => new RuntimeDir('/r').socketPath('task_../../x')).toThrow(
      expect.objectContaining({ code: 'TASK_NOT_FOUND' }),
    );
  });
});
