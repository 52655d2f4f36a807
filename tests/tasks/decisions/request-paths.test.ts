import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aliasesOf } from '../../../src/projects/path-aliases.js';
import { requestPaths } from '../../../src/tasks/decisions/request-paths.js';

let folder: string;
let project: string;

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'paths-')));
  project = join(folder, 'app');
  await mkdir(join(project, 'src'), { recursive: true });
  await writeFile(join(project, 'src', 'a.ts'), '');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('every field that names a path counts, relative ones from the project', async () => {
  expect(await requestPaths({ file_path: 'src/a.ts' }, project)).toEqual([join(project, 'src', 'a.ts')]);
  expect(await requestPaths({ notebook_path: join(project, 'n.ipynb'), path: '.' }, project)).toEqual([
    join(project, 'n.ipynb'),
    project,
  ]);
  expect(await requestPaths({ command: 'rm -rf /', file_path: '', path: 7 }, project)).toEqual([]);
});

it('a pattern counts by the folder before its first wildcard', async () => {
  expect(await requestPaths({ pattern: 'src/**/*.ts' }, project)).toEqual([join(project, 'src')]);
  expect(await requestPaths({ pattern: '../*' }, project)).toEqual([folder]);
  expect(await requestPaths({ pattern: '*.ts' }, project)).toEqual([]);
});

it('dots and links lead where they lead, also of files that are not there yet', async () => {
  await symlink('/etc', join(project, 'etc'));
  await symlink(join(folder, 'new-file'), join(project, 'dangling'));
  await symlink('dangling', join(project, 'to-dangling'));
  expect(await requestPaths({ file_path: 'etc/passwd' }, project)).toEqual(['/etc/passwd']);
  expect(await requestPaths({ file_path: 'etc/not/there' }, project)).toEqual(['/etc/not/there']);
  expect(await requestPaths({ file_path: 'src/../../other' }, project)).toEqual([join(folder, 'other')]);
  expect(await requestPaths({ file_path: 'dangling' }, project)).toEqual([join(folder, 'new-file')]);
  expect(await requestPaths({ file_path: 'to-dangling' }, project)).toEqual([join(folder, 'new-file')]);
});

it('what leads nobody knows where is outside of every project', async () => {
  await symlink('loop', join(project, 'loop'));
  expect(await requestPaths({ file_path: 'loop' }, project)).toEqual(['/']);
  expect(await requestPaths({ file_path: 'src/a.ts/below' }, project)).toEqual(['/']);
});

describe('other names of a file', () => {
  it('are those of the links in the project’s folder, to the file or to a folder above it', async () => {
    await mkdir(join(project, 'docs/ci'), { recursive: true });
    await writeFile(join(project, 'docs/agents.md'), '');
    await symlink('docs/agents.md', join(project, 'CLAUDE.md'));
    await symlink('docs/ci', join(project, '.github'));
    await symlink('nowhere', join(project, 'dangling'));
    await mkdir(join(project, '.git'));
    await symlink('../githooks', join(project, '.git/hooks'));
    const named = async (path: string) =>
      aliasesOf(await requestPaths({ file_path: path }, project), project);
    expect(await named('docs/agents.md')).toEqual([join(project, 'CLAUDE.md')]);
    expect(await named('docs/ci/build.yml')).toEqual([join(project, '.github/build.yml')]);
    expect(await named('docs/cix/build.yml')).toEqual([]);
    expect(await named('nowhere')).toEqual([join(project, 'dangling')]);
    expect(await named('githooks/pre-commit')).toEqual([join(project, '.git/hooks/pre-commit')]);
  });

  it('are none where the project is not there', async () => {
    expect(await aliasesOf(['/x'], join(project, 'gone'))).toEqual([]);
  });
});
