import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { artefactNames } from '../artefacts.js';
import { sha256 } from '../sha256.js';
import type { Check } from './check.js';

/** Whether the release has all its files and no other, each with its checksum. */
export const checkSums: Check = async ({ project, folder }) => {
  const { sums, ...artefacts } = artefactNames(project);
  const lines = (await readFile(join(folder, sums), 'utf8')).trimEnd().split('\n');
  const listed = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  const found = (await readdir(folder)).filter((name) => name !== sums);
  const expected = Object.values<string>(artefacts);
  return [
    ...expected.filter((name) => !found.includes(name)).map((name) => `${name} is missing.`),
    ...found.filter((name) => !expected.includes(name)).map((name) => `${name} is no file of a release.`),
    ...expected.filter((name) => !listed.has(name)).map((name) => `${sums} does not list ${name}.`),
    ...found
      .filter((name) => listed.has(name) && listed.get(name) !== sha256(join(folder, name)))
      .map((name) => `${name} differs from its checksum.`),
  ];
};
