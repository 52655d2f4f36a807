// The licences of what is bundled.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The licence text of every package of which code is in the bundle. Throws for a package without one. */
export function licences(all, root) {
  const inputs = Object.values(all).flatMap((output) =>
    Object.entries(output.inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? [path] : [])),
  );
  const folders = new Set(inputs.flatMap((path) => packageFolder(path, root) ?? []));
  const texts = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const own = licenceFiles(folder);
    const files = own.length > 0 ? own : siblingLicences(folder);
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

/** Packages of one repository share its licence; some are published without the text (@xterm/headless). */
function siblingLicences(folder) {
  const repositoryOf = (one) => {
    const { license, repository } = JSON.parse(readFileSync(join(one, 'package.json'), 'utf8'));
    const url = typeof repository === 'string' ? repository : (repository?.url ?? '');
    return `${license} ${/github\.com[/:]([^/]+\/[^/.#]+(?:\.js)?)/.exec(url)?.[1] ?? folder}`;
  };
  const scope = dirname(folder);
  const sibling = readdirSync(scope)
    .map((name) => join(scope, name))
    .find(
      (one) => one !== folder && licenceFiles(one).length > 0 && repositoryOf(one) === repositoryOf(folder),
    );
  return sibling === undefined ? [] : licenceFiles(sibling);
}

/** The folder of the package that a bundled file belongs to, or undefined for our own. */
function packageFolder(path, root) {
  const match = /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path);
  if (match === null) return undefined;
  const folder = resolve(root, match[1]);
  return existsSync(join(folder, 'package.json')) ? folder : undefined;
}
