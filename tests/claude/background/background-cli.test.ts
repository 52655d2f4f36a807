import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BackgroundCli } from '../../../src/claude/background/background-cli.js';
import { endBackground, findBackground } from '../../../src/claude/background/end-background.js';
import { systemClock } from '../../../src/base/system-clock.js';
import { tempFolder } from '../../config/temp-folder.js';

/** A program that does what the shell text says with its arguments. */
async function program(text: string): Promise<{ cli: BackgroundCli; folder: string }> {
  const folder = await tempFolder();
  const path = join(folder, 'claude');
  await writeFile(path, `#!/bin/sh\n${text}\n`);
  await chmod(path, 0o700);
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
  return { cli: new BackgroundCli({ command: [path], cwd: folder, env }), folder };
}

test('a start that is refused says what Claude Code says', async () => {
  const { cli } = await program(
    'cat > /dev/null; echo "Starting background service…" >&2; echo "Workspace not trusted." >&2; exit 1',
  );
  await expect(cli.launch([], 'Go.')).rejects.toMatchObject({
    code: 'TASK_START_FAILED',
    message: 'Claude Code did not start a background session: Workspace not trusted.',
  });
});

test('the prompt is the input of the program, and one that is too long is refused before', async () => {
  const { cli, folder } = await program('[ "$*" = "--bg -n name" ] && cat > prompt');
  await cli.launch(['-n', 'name'], '--not an option');
  expect(await readFile(join(folder, 'prompt'), 'utf8')).toBe('--not an option');
  await expect(cli.launch([], 'x'.repeat(300_000))).rejects.toThrow('The prompt has 300000 bytes');
});

test('sessions in terminals are left out of the list, and what is no list is an error', async () => {
  const { cli } = await program(
    `echo '[{"id":"a","name":"task_1 Make it.","state":"new","more":1},{"pid":5}]'`,
  );
  const listed = await cli.list();
  expect(listed).toMatchObject([{ id: 'a', name: 'task_1 Make it.', state: 'new' }]);
  expect(findBackground(listed, { name: 'task_1' })?.id).toBe('a');
  expect(findBackground(listed, { name: 'task_1', id: 'b' })).toBeUndefined();
  expect(findBackground(listed, { name: 'task' })).toBeUndefined();
  await expect((await program('echo "unknown command"')).cli.list()).rejects.toThrow(
    'did not list its background sessions: unknown command',
  );
});

test('a session is stopped before it is removed, and removed again while that is refused', async () => {
  const { cli, folder } = await program(
    `cd "$(dirname "$0")"; echo "$*" >> calls; case $1 in agents) echo '[{"id":"a","name":"task_1"}]' ;; rm) [ -e late ] || { touch late; exit 1; } ;; esac`,
  );
  expect(await endBackground(cli, { name: 'task_1' }, systemClock)).toEqual({
    processes: 0,
    isRemoved: true,
  });
  expect((await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n')).toEqual([
    'agents --json --all',
    'stop a',
    'rm a',
    'rm a',
  ]);
});
