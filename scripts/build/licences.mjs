// The licences of what is bundled.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

/** Packages that are published without their text, each with the folder of one of the same repository that has it. */
const withLicence = { '@xterm/addon-serialize': '../xterm', '@xterm/headless': '../xterm' };

/** The licence text of every package of which code is in the bundle. Throws for a package without one. */
export function licences(all, root) {
  const inputs = Object.values(all).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = new Set(inputs.flatMap((path) => packageFolder(path, root) ?? []));
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = licenceFiles(withLicence[name] === undefined ? folder : join(folder, withLicence[name]));
    if (files.length === 0)
      throw new Error(`${name} ${version} is bundled and has no licence text (${relative(root, folder)}).`);
    return `${name} ${version} (${license})\n\n${files.map((file) => readFileSync(file, 'utf8').trim()).join('\n\n')}\n`;
  });
  return `${texts.sort().join(`\n${'-'.repeat(80)}\n\n`)}`;
}

/** Also the notices that some licences ask to be passed on. */
function licenceFiles(folder) {
  return readdirSync(folder)
    .filter((name) => /^(licen[cs]e|copying|notice)(\.|-|$)/i.test(name))
    .map((name) => join(folder, name));
}

/** The folder of the package that a bundled file belongs to, or undefined for our own. */
function packageFolder(path, root) {
  const match = /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path);
  if (match === null) return undefined;
  const folder = resolve(root, match[1]);
  return existsSync(join(folder, 'package.json')) ? folder : undefined;
}
