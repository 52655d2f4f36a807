import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Check } from './check.js';

const files = ['package-lock.json', 'vscode/package.json', 'plugins/code-bridge/.claude-plugin/plugin.json'];
const versionSchema = z.object({ version: z.string() });

/** Whether all files of the checkout with a version have that of package.json. */
export const checkVersions: Check = async ({ project }) => {
  const read = await Promise.all(
    files.map(async (file) => {
      const { version } = versionSchema.parse(JSON.parse(await readFile(join(project.root, file), 'utf8')));
      return version === project.version
        ? []
        : [`${file} has version ${version}, package.json ${project.version}.`];
    }),
  );
  return read.flat();
};
