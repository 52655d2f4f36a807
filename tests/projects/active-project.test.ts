import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ActiveProject } from '../../src/projects/active-project.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { tempFolder } from '../harness/temp-folder.js';

test('a project that cannot be set leaves the previous one active', async () => {
  const root = await tempFolder();
  await writeFile(join(root, 'file'), '');
  const project = new ActiveProject(new AllowedRoots([root], root));
  await project.set(root);
  await expect(project.set(join(root, 'file'))).rejects.toMatchObject({ code: 'NOT_A_DIRECTORY' });
  await expect(project.set('/')).rejects.toMatchObject({ code: 'PATH_NOT_ALLOWED' });
  expect(await project.current()).toBe(root);
});

test('a project that was moved away is reported as missing', async () => {
  const root = await tempFolder();
  await mkdir(join(root, 'one'));
  const project = new ActiveProject(new AllowedRoots([root], root));
  await project.set(join(root, 'one'));
  await rename(join(root, 'one'), join(root, 'two'));
  await expect(project.resolve()).rejects.toMatchObject({ code: 'PATH_NOT_FOUND' });
});

describe('without a project that was set', () => {
  async function folders(...names: readonly string[]): Promise<{ root: string; paths: string[] }> {
    const root = await tempFolder();
    const paths = names.map((name) => join(root, name));
    for (const path of paths) await mkdir(path);
    return { root, paths };
  }

  test('it is the working directory of the server, in the roots or a root itself', async () => {
    const { root, paths } = await folders('one');
    const roots = new AllowedRoots([root], '/home/me');
    const project = new ActiveProject(roots, { cwd: paths[0] });
    expect(await project.resolve()).toBe(paths[0]);
    expect(await project.absolute('a/b')).toBe(join(root, 'one', 'a/b'));
    expect(await new ActiveProject(roots, { cwd: root }).resolve()).toBe(root);
  });

  test('a working directory outside the roots is none', async () => {
    const { root } = await folders();
    const project = new ActiveProject(new AllowedRoots([join(root, 'one')], root), { cwd: root });
    await expect(project.resolve()).rejects.toMatchObject({ code: 'NO_ACTIVE_PROJECT' });
    await expect(project.absolute('a')).rejects.toMatchObject({ code: 'NO_ACTIVE_PROJECT' });
  });

  test('the only folder of the client in the roots goes before the working directory', async () => {
    const { root, paths } = await folders('one', 'two', 'three');
    const [one = '', two = '', three] = paths;
    const roots = new AllowedRoots([root], root);
    const of = (client: readonly string[]) =>
      new ActiveProject(roots, { cwd: three, clientFolders: async () => client });
    expect(await of([two, '/etc']).resolve()).toBe(two);
    expect(await of([one, two]).resolve()).toBe(three);
    expect(await of([]).resolve()).toBe(three);
  });

  test('the error names the argument of the call', async () => {
    const project = new ActiveProject(new AllowedRoots([await tempFolder()], '/'));
    await expect(project.resolve(undefined, 'cwd')).rejects.toMatchObject({
      hint: expect.stringContaining('A call with cwd, an absolute path within') as unknown,
    });
  });
});
