// Makes all artefacts of a release. Usage: npm run release [-- FOLDER], where FOLDER is replaced if it holds a release; default: release.
// Exit code 1 unless the gate and every part of the long form were green for this very commit, with nothing left out.
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../src/base/errors.js';
import { longParts } from '../check/long-parts.js';
import { resultFaults } from '../check/results.js';
import { makeRelease } from './make-release.js';
import { readProject } from './project.js';

const project = readProject(fileURLToPath(new URL('../..', import.meta.url)));
const out = resolve(process.argv[2] ?? 'release');
try {
  await makeRelease(project, out);
  for (const file of readdirSync(out))
    process.stdout.write(`${statSync(join(out, file)).size} bytes: ${join(out, file)}\n`);
  const faults = resultFaults(project.root, ['check', ...longParts.map(({ name }) => name)]);
  for (const fault of faults) process.stderr.write(`Do not publish it: ${fault}\n`);
  if (faults.length > 0) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`No release was made: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
