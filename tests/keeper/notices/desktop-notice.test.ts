import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { showDesktopNotice } from '../../../src/keeper/notices/open-notices.js';
import { tempFolder } from '../../harness/temp-folder.js';

const never = new AbortController().signal;
const notice = { title: 'Claude Code asks in <shop>', words: '--icon=x & `id`\u0007' };
let folder: string;

beforeEach(async () => {
  folder = await tempFolder();
});

/** A program that writes its arguments, one a line, and ends with this code. */
async function program(name: string, code = 0): Promise<void> {
  const file = join(folder, name);
  await writeFile(
    file,
    `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/arguments"\necho no bus >&2\nexit ${code}\n`,
  );
  await chmod(file, 0o755);
}

function show(platform: NodeJS.Platform): Promise<void> {
  const env = { PATH: `${folder}:/usr/bin:/bin`, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/none' };
  return showDesktopNotice(notice, { platform, env, uid: 1 }, never);
}

it('notify-send gets title and words as text, never as options or markup', async () => {
  await program('notify-send');
  await show('linux');
  expect((await readFile(join(folder, 'arguments'), 'utf8')).split('\n')).toEqual([
    '--app-name=Claude Code Bridge',
    '--',
    'Claude Code asks in &lt;shop&gt;',
    '--icon=x &amp; `id`\u0007',
    '',
  ]);
});

it('on macOS the words are arguments of the script and no part of it', async () => {
  await program('osascript');
  await show('darwin');
  const lines = (await readFile(join(folder, 'arguments'), 'utf8')).split('\n');
  expect(lines.slice(-3, -1)).toEqual([notice.title, notice.words]);
  expect(lines.slice(0, -3).join('\n')).not.toContain('shop');
});

it('says which program is missing, and what it said when it failed', async () => {
  await expect(
    showDesktopNotice(notice, { platform: 'linux', env: { PATH: folder }, uid: undefined }, never),
  ).rejects.toThrow('there is no program notify-send');
  await program('notify-send', 1);
  await expect(show('linux')).rejects.toThrow('notify-send failed: no bus');
});
