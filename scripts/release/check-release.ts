// Checks all artefacts of a release, and that the gate and every part of the long form were green for this commit.
// Usage: npm run release:check [-- FOLDER]; default: release. Exit code 1 with faults.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { longParts } from '../check/long-parts.js';
import { resultFaults } from '../check/results.js';
import { readProject } from './project.js';
import { releaseFaults } from './release-faults.js';

const project = readProject(fileURLToPath(new URL('../..', import.meta.url)));
const folder = resolve(process.argv[2] ?? 'release');
const checks = resultFaults(project.root, ['check', ...longParts.map(({ name }) => name)]);
const faults = [...checks.map((fault) => `tests: ${fault}`), ...(await releaseFaults(project, folder))];
for (const fault of faults) process.stderr.write(`${fault}\n`);
if (faults.length > 0) process.exitCode = 1;
else process.stdout.write(`${folder}: version ${project.version} is complete and serves.\n`);
