// Makes all artefacts of a release. Usage: npm run release [-- FOLDER], where FOLDER is replaced if it holds a release; default: release.
import { readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../src/base/errors.js';
import { makeRelease } from './make-release.js';
import { readProject } from './project.js';
import { run } from './run.js';

const project = readProject(fileURLToPath(new URL('../..', import.meta.url)));
const out = resolve(process.argv[2] ?? 'release');
// Without git, or outside a repository, there is nothing to compare with.
const changes = await run('git', ['status', '--porcelain'], project.root).catch(() => '');
if (changes !== '')
  process.stderr.write(`No commit holds these changes, so publish nothing that is made now:\n${changes}`);
try {
  await makeRelease(project, out);
  for (const file of readdirSync(out)) {
    const size = statSync(join(out, file)).size.toLocaleString('en');
    process.stdout.write(`${size.padStart(12)} bytes  ${join(out, file)}\n`);
  }
} catch (error) {
  process.stderr.write(`No release was made: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
