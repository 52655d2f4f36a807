import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { artefactNames } from '../artefacts.js';
import { mcpbProgram } from '../make-bundle.js';
import { run } from '../run.js';
import type { Check } from './check.js';

const manifestSchema = z.object({ version: z.string(), publisher: z.string(), main: z.string() });

/** Whether the extension of VS Code is of this version and complete. */
export const checkExtension: Check = async ({ project, folder, work }) => {
  const unpacked = join(work, 'vsix');
  // Both are zip archives.
  await run(
    mcpbProgram(project.root),
    ['unpack', join(folder, artefactNames(project).extension), unpacked],
    work,
  );
  const home = join(unpacked, 'extension');
  const { version, main } = manifestSchema.parse(
    JSON.parse(await readFile(join(home, 'package.json'), 'utf8')),
  );
  return [
    ...(version === project.version ? [] : [`its version is ${version}.`]),
    ...[main, 'dist/THIRD_PARTY_LICENSES.txt']
      .filter((file) => !existsSync(join(home, file)))
      .map((file) => `it lacks ${file}.`),
  ];
};
