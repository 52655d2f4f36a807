import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../src/base/errors.js';
import { artefactNames } from '../artefacts.js';
import { fileTree } from '../file-tree.js';
import { mcpbProgram } from '../make-bundle.js';
import { makeRelease } from '../make-release.js';
import { run } from '../run.js';
import { sha256 } from '../sha256.js';
import type { Check } from './check.js';

/** Whether each archive holds what this checkout makes, file by file: another npm or Node may compress it in another way. */
export const checkContents: Check = async ({ project, folder, work }) => {
  const { npm, bundle, extension } = artefactNames(project);
  const again = join(work, 'again');
  await makeRelease(project, again);
  const filesOf = async (file: string, to: string) => {
    await mkdir(to);
    if (file.endsWith('gz')) await run('tar', ['-xzf', file, '--no-same-owner', '-C', to], to);
    else await run(mcpbProgram(project.root), ['unpack', file, to], to);
    return fingerprints(to);
  };
  const faults = [npm, bundle, extension].map(async (name) => {
    const [found, expected] = [join(folder, name), join(again, name)];
    try {
      if (sha256(found) === sha256(expected)) return [];
      return differences(
        await filesOf(found, join(work, `found-${name}`)),
        await filesOf(expected, join(work, `expected-${name}`)),
      ).map((fault) => `${name}: ${fault}`);
    } catch (error) {
      return [`${name} cannot be compared: ${messageOf(error)}`];
    }
  });
  return (await Promise.all(faults)).flat();
};

/** What a file holds and whether it is a program, by its name. */
async function fingerprints(folder: string): Promise<Map<string, string>> {
  const files = (await fileTree(folder)).filter(({ kind }) => kind === 'file');
  return new Map(files.map(({ name, path, mode }) => [name, `${mode} ${sha256(path)}`]));
}

function differences(found: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): string[] {
  return [
    ...[...expected.keys()].filter((name) => !found.has(name)).map((name) => `${name} is missing.`),
    ...[...found]
      .filter(([name, content]) => content !== expected.get(name))
      .map(([name]) =>
        expected.has(name)
          ? `${name} is not what this checkout makes.`
          : `${name} is no file of this checkout.`,
      ),
  ];
}
