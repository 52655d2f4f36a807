import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { searchedSecret } from '../../../src/tasks/decisions/searched-secret.js';
import { tempFolder } from '../../config/temp-folder.js';

let project: string;

beforeEach(async () => {
  project = await tempFolder();
  await mkdir(join(project, 'docs'));
  await mkdir(join(project, 'src'));
  await writeFile(join(project, 'src/a.ts'), '');
});

describe('a search', () => {
  const found = (input: Record<string, unknown>, tool = 'Grep') => searchedSecret(tool, input, project);

  test('meets the secrets of the folder that it searches, in any of its folders, whatever its glob says', async () => {
    expect(await found({ pattern: 'x' })).toBeUndefined();
    await mkdir(join(project, 'src/deep/er'), { recursive: true });
    await writeFile(join(project, 'src/deep/er/.env'), 'KEY=1');
    const why = 'src/deep/er/.env is in the folder that it searches';
    expect(await found({ pattern: 'x' })).toBe(why);
    expect(await found({ pattern: 'x', glob: '.e*' })).toBe(why);
    expect(await found({ pattern: 'x', path: 'src' })).toBe(why);
    expect(await found({ pattern: 'x', path: 'docs' })).toBeUndefined();
    expect(await found({ pattern: 'x', path: 'src/a.ts' })).toBeUndefined();
    expect(await found({ pattern: 'x' }, 'Glob')).toBeUndefined();
  });

  test('passes over installed packages, and asks where there are too many files to look at', async () => {
    await mkdir(join(project, 'node_modules/a'), { recursive: true });
    await writeFile(join(project, 'node_modules/a/test.pem'), '');
    expect(await found({ pattern: 'x' })).toBeUndefined();
    for (let index = 0; index < 21; index++) {
      const folder = join(project, `many/${index}`);
      await mkdir(folder, { recursive: true });
      await Promise.all(Array.from({ length: 1000 }, (_, at) => writeFile(join(folder, `${at}.txt`), '')));
    }
    expect(await found({ pattern: 'x' })).toBe(
      'the folder that it searches holds too many files to look for secrets',
    );
  });
});
