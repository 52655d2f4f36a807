import { link, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { readCommandOutput } from '../../src/claude/command-output.js';
import { createWorkplace } from '../harness/workplace.js';

const SESSION = '7f1e8a52-0000-4000-8000-000000000001';

let root: string;
let tasks: string;

beforeEach(async () => {
  const workplace = await createWorkplace();
  onTestFinished(() => workplace.remove());
  root = workplace.root;
  tasks = join(root, 'claude', 'project', SESSION, 'tasks');
  await mkdir(tasks, { recursive: true });
  await writeFile(join(root, 'secret'), 'a secret');
});

test('gives the last that a command has printed', async () => {
  const path = join(tasks, 'b1.output');
  await writeFile(path, `${'x'.repeat(40_000)}the end`);
  const text = await readCommandOutput(path, SESSION);
  expect(text).toHaveLength(32 * 1024);
  expect(text?.endsWith('the end')).toBe(true);
});

test('a path that an agent wrote leads to no other file: by a link, a hard link, a linked folder, or a name', async () => {
  await symlink(join(root, 'secret'), join(tasks, 'link.output'));
  await link(join(root, 'secret'), join(tasks, 'hard.output'));
  const other = join(root, 'elsewhere', 'tasks');
  await mkdir(other, { recursive: true });
  await writeFile(join(other, 'b1.output'), 'a secret');
  await mkdir(join(root, SESSION));
  await symlink(other, join(root, SESSION, 'tasks'));
  for (const path of [
    join(tasks, 'link.output'),
    join(tasks, 'hard.output'),
    join(root, SESSION, 'tasks', 'b1.output'),
    join(other, 'b1.output'),
    join(root, 'secret'),
    `${tasks}/../tasks/../../../../secret`,
    join(tasks, 'gone.output'),
  ])
    expect(await readCommandOutput(path, SESSION)).toBeUndefined();
});
