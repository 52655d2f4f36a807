import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../harness/temp-folder.js';

const script = resolve(import.meta.dirname, '../../scripts/build/licences.mjs');

/** What the build writes as licences of a bundle that holds code of the package `whole`, which has these files. */
async function licencesWith(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await tempFolder();
  const manifest = JSON.stringify({ name: 'whole', version: '1.0.0', license: 'MIT' });
  for (const [name, text] of Object.entries({ 'package.json': manifest, ...files })) {
    const path = join(root, 'node_modules', 'whole', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  const outputs = { 'dist/main.js': { inputs: { 'node_modules/whole/index.js': { bytesInOutput: 1 } } } };
  const code = `import { licences } from ${JSON.stringify(script)};
    process.stdout.write(licences(${JSON.stringify(outputs)}, ${JSON.stringify(root)}));`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', code], {
    encoding: 'utf8',
    stdio: 'pipe',
  });
}

it('the whole licence of a bundled package and its notice are with the bundle', async () => {
  const text = await licencesWith({ 'LICENSE.md': 'Permission is granted.\n', NOTICE: 'By its makers.\n' });
  expect(text).toBe('whole 1.0.0 (MIT)\n\nPermission is granted.\n\nBy its makers.\n');
});

it('a package without a licence text fails the build', async () => {
  await expect(licencesWith({})).rejects.toThrow('whole 1.0.0 is bundled and has no licence text');
});
