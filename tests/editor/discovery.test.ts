import { chmod, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  editorsFolder,
  newEditorId,
  readEditorWindows,
  sweepEditorWindows,
  writeEditorWindow,
  windowAtPort,
  type EditorWindow,
} from '../../src/editor/discovery.js';
import { ownIdentity } from '../../src/store/process-identity.js';
import { tempFolder } from '../harness/temp-folder.js';

let state: string;

beforeEach(async () => {
  state = await tempFolder();
});

async function window(changes: Partial<EditorWindow> = {}): Promise<EditorWindow> {
  return {
    v: 1,
    id: newEditorId(),
    version: '0.1.0',
    editor: 'code-server 1.139.1',
    port: 3000,
    token: 'secret',
    owner: await ownIdentity(),
    folders: ['/project'],
    trusted: true,
    started_at: '2026-11-25T12:00:00.000Z',
    ...changes,
  };
}

test('a window is found by its file, which only its user can read, and by its port alone while it is leaving', async () => {
  const written = await window();
  await writeEditorWindow(written, state);
  expect(await readEditorWindows(state)).toEqual([written]);
  expect((await stat(editorsFolder(state))).mode & 0o777).toBe(0o700);
  expect((await stat(join(editorsFolder(state), `${written.id}.json`))).mode & 0o777).toBe(0o600);
  const leaving = { ...written, leaving: true };
  await writeEditorWindow(leaving, state);
  expect(await readEditorWindows(state)).toEqual([]);
  expect(await windowAtPort(3000, state)).toEqual(leaving);
  expect(await windowAtPort(3001, state)).toBeUndefined();
});

test('a window of a process that is gone is not trusted, even when another process has its pid', async () => {
  const own = await ownIdentity();
  const stale = await window({ owner: { ...own, start_time: '1' } });
  const elsewhere = await window({ owner: { ...own, namespace: 'pid:[1]' } });
  const alive = await window();
  for (const one of [stale, elsewhere, alive]) await writeEditorWindow(one, state);
  expect((await readEditorWindows(state)).map(({ id }) => id)).toEqual([alive.id]);
  await sweepEditorWindows(state);
  expect((await readdir(editorsFolder(state))).sort()).toEqual(
    [alive, elsewhere].map(({ id }) => `${id}.json`).sort(),
  );
});

test('what others could have written, links, what is no window, and one of another version, is left out', async () => {
  const written = await window();
  await writeEditorWindow(written, state);
  const file = join(editorsFolder(state), `${written.id}.json`);
  await symlink(file, join(editorsFolder(state), `${newEditorId()}.json`));
  await writeFile(join(editorsFolder(state), `${newEditorId()}.json`), '{"v":1}', { mode: 0o600 });
  const other = JSON.stringify({ ...written, v: 2 });
  await writeFile(join(editorsFolder(state), `${newEditorId()}.json`), other, { mode: 0o600 });
  await writeFile(join(editorsFolder(state), 'other.json'), '{', { mode: 0o600 });
  expect(await readEditorWindows(state)).toEqual([written]);
  await chmod(file, 0o644);
  expect(await readEditorWindows(state)).toEqual([]);
  await chmod(file, 0o600);
  await chmod(editorsFolder(state), 0o755);
  expect(await readEditorWindows(state)).toEqual([]);
});
