import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages, builds, type Build } from '../bundled-packages.js';
import { lockedPackages } from '../locked-packages.js';
import type { Check } from './check.js';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.|-|$)/i;

/** Whether each package of which code is in a build has its whole licence text there. */
export const checkLicences: Check = async ({ project }) => {
  const names: readonly Build[] = ['dist', 'vscode'];
  return names.flatMap((build) => {
    const text = readFileSync(join(project.root, builds[build]), 'utf8');
    return bundledPackages(project.root, build).flatMap((folder) => missing(project.root, folder, text));
  });
};

function missing(root: string, folder: string, text: string): string[] {
  const { name, version, license } = lockedPackages(root)(folder);
  const heading = `${name} ${version} (${license})\n\n`;
  if (!text.includes(heading)) return [`${name} ${version} has no licence text.`];
  const files = readdirSync(join(root, folder)).filter((file) => LICENCE_FILE.test(file));
  return files
    .filter((file) => !text.includes(readFileSync(join(root, folder, file), 'utf8').trim()))
    .map((file) => `${name} ${version}: ${file} is not there as a whole.`);
}
