import { rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openRuntimeDir, RuntimeDir } from '../../src/store/runtime-dir.js';
import { tempFolder } from '../harness/temp-folder.js';

const uid = process.getuid?.() ?? 0;
const taskId = 'task_0123456789abcdef0123';
let folder: string;
beforeEach(async () => {
  folder = await tempFolder();
});

describe('openRuntimeDir', () => {
  test('opens a folder in the state directory, for the owner only', async () => {
    const dir = await openRuntimeDir(folder, { tmpDir: '/nowhere' });
    expect((await stat(dir.path)).mode & 0o777).toBe(0o700);
    expect(dir.socketPath(taskId)).toBe(join(folder, 'sockets', '0123456789abcdef0123.sock'));
  });

  test('opens one in the temporary folder where the path of the state is too long, and no one else has its name', async () => {
    const state = join(folder, 'x'.repeat(80));
    const dir = await openRuntimeDir(state, { tmpDir: folder });
    expect(dir.path).toBe(join(folder, `ccb-${uid}`));
    await rm(dir.path, { recursive: true });
    await symlink('/etc', dir.path);
    await expect(openRuntimeDir(state, { tmpDir: folder })).rejects.toMatchObject({
      code: 'STATE_UNUSABLE',
      hint: expect.stringContaining('MCP_STATE_DIR') as unknown,
    });
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
