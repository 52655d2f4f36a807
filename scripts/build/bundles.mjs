// One bundle, where it is made, and what of others is in it.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';

/** What all that Node runs has in common. */
export const forNode = { platform: 'node', target: 'node20' };

/** Bundles with these options of esbuild. Adds what the bundle is made of to `outputs`; returns the files where `write` is false. */
export async function bundle(root, outputs, options) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    bundle: true,
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    ...options,
  });
  Object.assign(outputs, metafile.outputs);
  return outputFiles;
}

/**
 * Joins what a start loads at once, but for `apart`, into `<name>-start.js`, since each file costs a start a millisecond. The files
 * stay as doors to it, for what is loaded later, and are returned. `apart` has what awaits such a load while it runs itself, or was
 * joined before: of the doors in `joined` what is behind them is loaded.
 */
export async function joinStart(root, outputs, { outdir, banner }, name, loaded, apart, joined = []) {
  const paths = [...loaded].filter((path) => !apart.has(path));
  const files = paths.map((path) => resolve(root, path));
  const doors = paths.map((path, at) => ({
    file: files[at],
    names: outputs[path].exports.map((one) => [one, `${one}_${at}`]),
  }));
  const list = (names) => names.map((pair) => pair.join(' as ')).join();
  const [{ contents }] = await bundle(
    root,
    {},
    {
      ...forNode,
      format: 'esm',
      banner,
      write: false,
      outdir,
      stdin: {
        contents: doors
          .map(({ file, names }) => `export{${list(names)}}from'./${basename(file)}';`)
          .join('\n'),
        resolveDir: outdir,
      },
      plugins: [onlyFiles(new Set([...files, ...joined]), banner.js)],
    },
  );
  writeFileSync(join(outdir, `${name}-start.js`), contents);
  for (const { file, names } of doors)
    writeFileSync(
      file,
      `export{${list(names.map(([one, other]) => [other, one]))}}from'./${name}-start.js';`,
    );
  return files;
}

/** Has all files import from the joined ones and not through their doors, each a file more. A door stays for what is loaded by its name. */
export function passDoors(outdir) {
  const texts = readdirSync(outdir)
    .filter((name) => name.endsWith('.js'))
    .map((name) => ({ name, text: readFileSync(join(outdir, name), 'utf8') }));
  const doors = new Map();
  for (const { name, text } of texts) {
    const [, list, start] = /^export\{([^}]*)\}from'(\.\/[\w-]+\.js)';$/.exec(text) ?? [];
    const pairs = list?.split(',').map((pair) => pair.split(' as ').reverse());
    if (pairs !== undefined) doors.set(`./${name}`, { start, names: new Map(pairs) });
  }
  for (const { name, text } of texts) {
    if (doors.has(`./${name}`)) continue;
    const passed = text.replace(
      /\b(import|export)(?:\{([^}]*)\}from)?"([^"]+)"/g,
      (whole, word, list, from) => {
        const { start, names } = doors.get(from) ?? {};
        if (start === undefined) return whole;
        if (list === undefined) return `${word}"${start}"`;
        const pairs = list.split(',').map((one) => {
          const [outer, inner = outer] = one.split(' as ');
          return `${names.get(outer)} as ${inner}`;
        });
        return `${word}{${pairs}}from"${start}"`;
      },
    );
    if (passed !== text) writeFileSync(join(outdir, name), passed);
  }
}

/** The outputs that an import of this one loads, in the order in which they run. */
export function loadedAtOnce(outputs, path, seen = new Set()) {
  for (const { kind, path: other } of outputs[path]?.imports ?? [])
    if (kind === 'import-statement' && other in outputs && !seen.has(other))
      loadedAtOnce(outputs, other, seen);
  return seen.add(path);
}

/** Bundles these files alone, without the banner that each of them has. */
function onlyFiles(files, banner) {
  return {
    name: 'only-files',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind, resolveDir }) => {
        const file = resolve(resolveDir, path);
        return kind === 'import-statement' && files.has(file) ? { path: file } : { path, external: true };
      });
      onLoad({ filter: /./ }, ({ path }) => ({ contents: readFileSync(path, 'utf8').replace(banner, '') }));
    },
  };
}

/** A new folder beside what is built, on the same disk: a program that runs from the last build loses nothing while this one is made. */
export function folderBeside(root) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  return mkdtempSync(join(root, '.cache', 'build-'));
}

/** Puts the built folder in its place at once, and removes what was there. */
export function swapFolder(built, place) {
  const old = `${built}-old`;
  chmodSync(built, 0o755);
  if (existsSync(place)) renameSync(place, old);
  renameSync(built, place);
  rmSync(old, { recursive: true, force: true });
}

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
