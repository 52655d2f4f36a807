import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { checkLicences } from '../../scripts/release/checks/licences.js';
import { readProject } from '../../scripts/release/project.js';
import { tempFolder } from '../config/temp-folder.js';

const project = readProject(resolve(import.meta.dirname, '..', '..'));

/** A checkout in which code of the package `whole` is bundled, and that says so in the given words. */
async function checkout(words: string): Promise<string> {
  const root = await tempFolder();
  const lock = { version: '1.0.0', integrity: 'sha512-AA==', license: 'MIT' };
  const outputs = { 'dist/main.js': { inputs: { 'node_modules/whole/index.js': { bytesInOutput: 1 } } } };
  const files = {
    'package-lock.json': JSON.stringify({ packages: { 'node_modules/whole': lock } }),
    '.cache/build/dist.meta.json': JSON.stringify({ outputs }),
    '.cache/build/vscode.meta.json': JSON.stringify({ outputs: {} }),
    'dist/THIRD_PARTY_LICENSES.txt': words,
    'vscode/dist/THIRD_PARTY_LICENSES.txt': '',
    'node_modules/whole/LICENSE.md': 'Permission is granted.\nWithout warranty.\n',
    'node_modules/whole/NOTICE': 'By the makers of whole.\n',
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

it.each([
  ['nothing', '', ['whole 1.0.0 has no licence text.']],
  [
    'half of a licence and no notice',
    'whole 1.0.0 (MIT)\n\nPermission is granted.\n',
    ['whole 1.0.0: LICENSE.md is not there as a whole.', 'whole 1.0.0: NOTICE is not there as a whole.'],
  ],
  [
    'all of it',
    'whole 1.0.0 (MIT)\n\nPermission is granted.\nWithout warranty.\n\nBy the makers of whole.\n',
    [],
  ],
])('licences of bundled code: with %s the faults are reported', async (_, words, faults) => {
  const root = await checkout(words);
  const release = { project: { ...project, root }, folder: root, work: root };
  expect((await checkLicences(release)).toSorted()).toEqual(faults);
});
