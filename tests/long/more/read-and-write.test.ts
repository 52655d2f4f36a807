import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startBridge } from '../../harness/start-bridge.js';

/** No task is started here. */
const claude = process.execPath;

test('a file is written, read, read by lines and written again with what was read', async () => {
  const bridge = await startBridge({ claude });
  await bridge.call('set_active_project', { path: bridge.project });
  expect(await bridge.call('create_directory', { path: 'src/parts' })).toEqual({
    path: join(bridge.project, 'src/parts'),
    created: true,
    message: 'Directory created successfully.',
  });
  expect(await bridge.call('create_directory', { path: 'src/parts' })).toMatchObject({ created: false });
  const content = Array.from({ length: 200 }, (_, at) => `line ${at + 1}`).join('\r\n');
  const written = await bridge.call('write_file', { path: 'src/parts/a.txt', content });
  expect(written).toMatchObject({ created: true, message: 'File written successfully.' });
  const head = await bridge.call('read_file', { path: 'src/parts/a.txt', header: true });
  expect(head).toMatchObject({
    path: join(bridge.project, 'src/parts/a.txt'),
    lines: 200,
    encoding: 'utf-8',
    sha256: written['sha256'],
    truncated: true,
  });
  const rest = await bridge.call('read_file', { path: 'src/parts/a.txt', cursor: head['cursor'] });
  expect(`${String(head['content'])}${String(rest['content'])}`).toBe(content);
  expect(
    await bridge.call('read_file_range', { path: 'src/parts/a.txt', start_line: 199, end_line: 300 }),
  ).toEqual({
    path: join(bridge.project, 'src/parts/a.txt'),
    start_line: 199,
    end_line: 200,
    total_lines: 200,
    truncated: false,
    content: 'line 199\r\nline 200',
  });
  const again = { path: 'src/parts/a.txt', content: 'new', expected_sha256: written['sha256'] };
  expect(await bridge.call('write_file', again)).toMatchObject({ created: false, size_bytes: 3 });
  await expect(bridge.call('write_file', again)).rejects.toThrow(/^FILE_CHANGED: .*Nothing was written\./);
});

test('what must not be read or written is refused by name', async () => {
  const bridge = await startBridge({ claude });
  const path = (name: string) => join(bridge.project, name);
  await writeFile(path('binary'), Buffer.from([1, 0, 2]));
  await mkdir(path('folder'));
  const refusals: [string, Record<string, unknown>, RegExp][] = [
    ['read_file', { path: '/etc/passwd' }, /^PATH_NOT_ALLOWED: /],
    ['read_file', { path: '/etc/no-such-file' }, /^PATH_NOT_ALLOWED: /],
    ['read_file', { path: path('binary') }, /^BINARY_FILE: Cannot read binary file: /],
    ['read_file', { path: path('folder') }, /^NOT_A_FILE: /],
    ['read_file', { path: path('none') }, /^PATH_NOT_FOUND: /],
    ['read_file', { path: 'relative' }, /^NO_ACTIVE_PROJECT: /],
    ['read_file_range', { path: path('x'), start_line: 0, end_line: 1 }, /^INVALID_ARGUMENTS: /],
    ['write_file', { path: '/etc/x', content: '' }, /^PATH_NOT_ALLOWED: /],
    ['write_file', { path: path('.git/hooks/pre-commit'), content: '' }, /^PROTECTED_PATH: /],
    ['create_directory', { path: path('binary') }, /^NOT_A_DIRECTORY: /],
  ];
  for (const [tool, args, fault] of refusals) await expect(bridge.call(tool, args)).rejects.toThrow(fault);
});

test('a file of the worst characters still fits into answers, page by page', async () => {
  const bridge = await startBridge({ claude });
  const path = join(bridge.project, 'escapes.txt');
  const content = '\u001b"\\'.repeat(200_000);
  await writeFile(path, content);
  let read = '';
  let cursor: unknown;
  do {
    const page = await bridge.call('read_file', {
      path,
      max_bytes: 262_144,
      ...(cursor !== undefined && { cursor }),
    });
    read += String(page['content']);
    cursor = page['cursor'];
  } while (cursor !== undefined);
  expect(read === content).toBe(true);
});
