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
    const file = licenceFile(folder) ?? siblingLicence(folder);
    if (file === undefined)
      throw new Error(`${name} ${version} is bundled and has no licence text (${relative(root, folder)}).`);
    return `${name} ${version} (${license})\n\n${readFileSync(file, 'utf8').trim()}\n`;
  });
  return `${texts.sort().join(`\n${'-'.repeat(80)}\n\n`)}`;
}

function licenceFile(folder) {
  const entry = readdirSync(folder).find((name) => /^(licen[cs]e|copying)(\.|-|$)/i.test(name));
  return entry === undefined ? undefined : join(folder, entry);
}

/** Packages of one repository share its licence; some are published without the text (@xterm/headless). */
function siblingLicence(folder) {
  const repositoryOf = (one) => {
    const { license, repository } = JSON.parse(readFileSync(join(one, 'package.json'), 'utf8'));
    const url = typeof repository === 'string' ? repository : (repository?.url ?? '');
    return `${license} ${/github\.com[/:]([^/]+\/[^/.#]+(?:\.js)?)/.exec(url)?.[1] ?? folder}`;
  };
  const scope = dirname(folder);
  const sibling = readdirSync(scope)
    .map((name) => join(scope, name))
    .find(
      (one) => one !== folder && licenceFile(one) !== undefined && repositoryOf(one) === repositoryOf(folder),
    );
  return sibling === undefined ? undefined : licenceFile(sibling);
}

/** The folder of the package that a bundled file belongs to, or undefined for our own. */
function packageFolder(path, root) {
  const match = /^(.*node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(path);
  if (match === null) return undefined;
  const folder = resolve(root, match[1]);
  return existsSync(join(folder, 'package.json')) ? folder : undefined;
}
