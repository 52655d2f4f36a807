import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createProjectFiles } from '../../src/tasks/project-folder.js';
import { TASK_ID } from './sample-task.js';

let project: string;
let outside: string;

beforeEach(async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'project-')));
  project = join(folder, 'app');
  outside = join(folder, 'outside');
  await mkdir(project);
  await mkdir(outside);
});
afterEach(() => rm(join(project, '..'), { recursive: true, force: true }));

it('log and prompt lie in a folder that hides itself from git, for the user alone', async () => {
  const files = await createProjectFiles(project, TASK_ID, 'Do it.');
  const folder = join(project, '.claude', 'mcp-logs');
  expect(files).toMatchObject({
    logFile: join(folder, `${TASK_ID}.log`),
    promptFile: join(folder, `${TASK_ID}.prompt.md`),
  });
  expect((await readdir(folder)).sort()).toEqual(
    ['.gitignore', 'current_task_prompt.md', `${TASK_ID}.log`, `${TASK_ID}.prompt.md`].sort(),
  );
  expect(await readFile(join(folder, '.gitignore'), 'utf8')).toMatch(/^\*$/m);
  for (const name of [`${TASK_ID}.log`, `${TASK_ID}.prompt.md`, 'current_task_prompt.md'])
    expect((await stat(join(folder, name))).mode & 0o077, name).toBe(0);
  expect(await readdir(project)).toEqual(['.claude']);
  await files.remove();
  expect((await readdir(folder)).sort()).toEqual(['.gitignore', 'current_task_prompt.md']);
});

it('the copy of the newest prompt replaces a link, and what it pointed to stays as it was', async () => {
  const folder = join(project, '.claude', 'mcp-logs');
  await mkdir(folder, { recursive: true });
  const precious = join(outside, 'precious');
  await writeFile(precious, 'precious');
  await symlink(precious, join(folder, 'current_task_prompt.md'));
  await symlink(precious, join(folder, '.gitignore'));
  await createProjectFiles(project, TASK_ID, 'Do it.');
  expect(await readFile(precious, 'utf8')).toBe('precious');
  expect(await readFile(join(folder, 'current_task_prompt.md'), 'utf8')).toBe('Do it.');
});

it.each(['.claude', join('.claude', 'mcp-logs')])(
  'a folder %s that is a link out of the project is refused',
  async (name) => {
    if (name !== '.claude') await mkdir(join(project, '.claude'));
    await symlink(outside, join(project, name));
    await expect(createProjectFiles(project, TASK_ID, 'Do it.')).rejects.toMatchObject({
      code: 'PATH_NOT_ALLOWED',
    });
    expect(await readdir(outside)).toEqual([]);
  },
);

it('a file of the task that is there already is never written over', async () => {
  await createProjectFiles(project, TASK_ID, 'First.');
  await expect(createProjectFiles(project, TASK_ID, 'Second.')).rejects.toMatchObject({
    code: 'NOT_WRITABLE',
  });
});

it('a project that cannot be written to is refused', async () => {
  const sealed = process.getuid?.() === 0 ? '/sys/kernel' : project;
  if (sealed === project) await chmod(project, 0o500);
  await expect(createProjectFiles(sealed, TASK_ID, 'Do it.')).rejects.toMatchObject({ code: 'NOT_WRITABLE' });
  await chmod(project, 0o700);
  await writeFile(join(project, '.claude'), 'a file');
  await expect(createProjectFiles(project, TASK_ID, 'Do it.')).rejects.toMatchObject({
    code: 'NOT_WRITABLE',
  });
});
