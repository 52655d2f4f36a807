import { execFileSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../config/temp-folder.js';

const script = resolve(import.meta.dirname, '../../scripts/build/bundles.mjs');

it('a build replaces the last one at once, and leaves nothing beside it', async () => {
  const root = await tempFolder();
  const place = join(root, 'dist');
  const build = (file: string): void => {
    const code = `import { folderBeside, swapFolder } from ${JSON.stringify(script)};
      import { existsSync, writeFileSync } from 'node:fs';
      const built = folderBeside(${JSON.stringify(root)});
      writeFileSync(built + '/${file}', '');
      if (existsSync(${JSON.stringify(join(place, file))})) throw new Error('too early');
      swapFolder(built, ${JSON.stringify(place)});`;
    execFileSync(process.execPath, ['--input-type=module', '-e', code]);
  };
  build('first.js');
  await mkdir(join(place, 'web'));
  await writeFile(join(place, 'web', 'old.js'), '');
  build('second.js');
  expect([await readdir(place), await readdir(join(root, '.cache'))]).toEqual([['second.js'], []]);
});
