import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ActiveProject } from '../../src/projects/active-project.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { tempFolder } from '../config/temp-folder.js';

test('without a path and without an active project the error says what to do', async () => {
  const project = new ActiveProject(new AllowedRoots([await tempFolder()], '/home/me'));
  expect(project.current()).toBeUndefined();
  await expect(project.resolve()).rejects.toMatchObject({
    code: 'NO_ACTIVE_PROJECT',
    message: 'No path specified and no active project set. Use set_active_project first.',
  });
});

test('a given path takes precedence over the active project', async () => {
  const root = await tempFolder();
  const [one, two] = [join(root, 'one'), join(root, 'two')];
  await mkdir(one);
  await mkdir(two);
  const project = new ActiveProject(new AllowedRoots([root], root));
  expect(await project.set('~/one/')).toBe(one);
  expect(project.current()).toBe(one);
  expect(await project.resolve()).toBe(one);
  expect(await project.resolve(two)).toBe(two);
  expect(project.current()).toBe(one);
});

test('a project that cannot be set leaves the previous one active', async () => {
  const root = await tempFolder();
  await writeFile(join(root, 'file'), '');
  const project = new ActiveProject(new AllowedRoots([root], root));
  await project.set(root);
  await expect(project.set(join(root, 'file'))).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' });
  await expect(project.set('/')).rejects.toMatchObject({ code: 'PATH_NOT_ALLOWED' });
  expect(project.current()).toBe(root);
});

test('a project that was moved away is reported as missing', async () => {
  const root = await tempFolder();
  await mkdir(join(root, 'one'));
  const project = new ActiveProject(new AllowedRoots([root], root));
  await project.set(join(root, 'one'));
  await rename(join(root, 'one'), join(root, 'two'));
  await expect(project.resolve()).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
});

test('without roots the error asks for roots', async () => {
  const project = new ActiveProject(new AllowedRoots([], '/home/me'));
  await expect(project.resolve()).rejects.toMatchObject({ code: 'NO_ALLOWED_ROOTS' });
});
