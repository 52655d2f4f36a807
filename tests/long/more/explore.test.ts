import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

async function startWithFiles(): Promise<TestBridge> {
  const bridge = await startBridge({ claude: '/bin/false' });
  await mkdir(join(bridge.project, 'src'));
  await writeFile(join(bridge.project, '.gitignore'), '*.log\n');
  await writeFile(join(bridge.project, 'noise.log'), '');
  await writeFile(join(bridge.project, 'src', 'main.ts'), 'export {};\n');
  return bridge;
}

const NOTE = 'left out: 1 ignored, 1 hidden; ignored: true shows them';

describe('exploring a project through a client', () => {
  test('list_files shows what is there, in the active project too', async () => {
    const bridge = await startWithFiles();
    const whole = {
      path: bridge.project,
      entries: [
        { name: 'src', type: 'directory' },
        { name: 'src/main.ts', type: 'file', size: 11 },
      ],
      note: NOTE,
    };
    expect(await bridge.call('list_files', { path: bridge.project })).toEqual(whole);
    await bridge.call('set_active_project', { path: bridge.project });
    expect(await bridge.call('list_files')).toEqual(whole);
    expect(await bridge.call('list_files', { path: 'src' })).toMatchObject({
      entries: [{ name: 'main.ts' }],
    });
    expect(await bridge.call('list_files', { names: true })).toEqual({
      path: bridge.project,
      names: ['src/', 'src/main.ts'],
      note: NOTE,
    });
    await expect(bridge.call('list_files', { path: '/etc' })).rejects.toThrow('PATH_NOT_ALLOWED');
    await expect(bridge.call('list_files', { depth: 6 })).rejects.toThrow('INVALID_ARGUMENTS');
  });

  test('get_file_tree draws it', async () => {
    const bridge = await startWithFiles();
    expect(await bridge.call('get_file_tree', { path: bridge.project, depth: 2 })).toEqual({
      path: bridge.project,
      note: NOTE,
      tree: `app/ [${NOTE}]\n└── src/\n    └── main.ts`,
    });
  });

  test('dependencies and other noise are left out without a rule, and shown with `ignored`', async () => {
    const bridge = await startWithFiles();
    await mkdir(join(bridge.project, 'node_modules'));
    await writeFile(join(bridge.project, 'node_modules', 'x.js'), 'export {};\n');
    const path = bridge.project;
    const note = 'left out: node_modules, 1 ignored, 1 hidden; ignored: true shows them';
    expect(await bridge.call('get_file_tree', { path, depth: 1 })).toEqual({
      path,
      note,
      tree: `app/ [${note}]\n└── src/`,
    });
    expect(await bridge.call('list_files', { path, depth: 1, names: true })).toMatchObject({
      names: ['src/'],
      note,
    });
    expect(await bridge.call('list_files', { path, depth: 1, names: true, ignored: true })).toEqual({
      path,
      names: ['node_modules/', 'src/', '.gitignore', 'noise.log'],
    });
    const found = async (ignored: boolean): Promise<unknown> =>
      (await bridge.call('search_files', { path, query: 'export', ignored }))['matches'];
    expect(await found(false)).toHaveLength(1);
    expect(await found(true)).toHaveLength(2);
  });

  test('search_files finds a line', async () => {
    const bridge = await startWithFiles();
    expect(await bridge.call('search_files', { path: bridge.project, query: 'export' })).toEqual({
      path: bridge.project,
      matches: [{ path: 'src/main.ts', line: 1, column: 1, text: 'export {};' }],
      note: 'Left out: ignored files; ignored: true shows them.',
    });
    await expect(
      bridge.call('search_files', { path: bridge.project, query: '(', regex: true }),
    ).rejects.toThrow('INVALID_ARGUMENTS');
  });
});
