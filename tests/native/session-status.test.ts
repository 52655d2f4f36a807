import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { SessionStatus } from '../../src/native/session-status.js';

async function claudeFolder(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'claude-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'sessions'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, 'sessions', name), text);
  return folder;
}

test('is that of an ancestor with the session’s id, also when it changes, and never that of another process', async () => {
  const folder = await claudeFolder({
    '1.json': '{"pid":1,"sessionId":"other","status":"idle"}',
    '2.json': '{"half',
    '3.json': '{"pid":3,"sessionId":"mine","status":"waiting"}',
    '5.json': '{"pid":5,"sessionId":"mine","status":"idle"}',
  });
  const status = new SessionStatus(folder, 'mine', [1, 2, 3, 4]);
  expect(await status.read()).toBe('waiting');
  expect(await status.pid()).toBe(3);
  await writeFile(join(folder, 'sessions', '3.json'), '{"pid":3,"sessionId":"mine","status":"busy"}');
  expect(await status.read()).toBe('other');
  await rm(join(folder, 'sessions', '3.json'));
  expect(await status.read()).toBeUndefined();
});

test('is not known without such a file or folder', async () => {
  expect(await new SessionStatus(await claudeFolder({}), 'mine', [1]).read()).toBeUndefined();
  expect(await new SessionStatus('/nowhere', 'mine', [1]).read()).toBeUndefined();
});
