// One bundle, what is joined of its files, and where it is made.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { build } from 'esbuild';

/** What all that Node runs has in common. Bundled CommonJS calls `require`, which an ES module does not have. */
export const forNode = {
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
};

/** Bundles with these options of esbuild. Adds what the bundle is made of to `all`; returns that, and the files where `write` is false. */
export async function bundle(root, all, options) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    bundle: true,
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    ...options,
  });
  Object.assign(all, metafile.outputs);
  return { outputs: metafile.outputs, outputFiles };
}

/** The outputs that an import of these sources loads at once, in the order in which they run. Throws for a source that nothing imports later. */
export function loadedAtOnce(outputs, sources) {
  const seen = new Set();
  const load = (path) => {
    for (const { kind, path: other } of outputs[path].imports)
      if (kind === 'import-statement' && other in outputs && !seen.has(other)) load(other);
    seen.add(path);
  };
  for (const source of sources) {
    const path = Object.keys(outputs).find((one) => outputs[one].entryPoint === source);
    if (path === undefined) throw new Error(`No file of dist/ is made of ${source}.`);
    load(path);
  }
  return seen;
}

/**
 * Writes the outputs of a bundle, those of each group joined into a file of its name, since each file that is loaded costs a
 * millisecond. All others import from that file; what is loaded by its name stays as a door to it.
 */
export async function joinOutputs(root, outdir, { outputs, outputFiles }, groups) {
  const texts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  // What gives a file its name keeps the names of its exports.
  const members = Object.entries(groups).flatMap(([group, paths]) =>
    paths.map((path, at) => [
      resolve(root, path),
      { group, mark: parse(path).name === group ? '' : `_${at}`, names: outputs[path].exports },
    ]),
  );
  const groupOf = new Map(members);
  const opened = ({ names, mark }, from, isOut) =>
    `export{${names.map((one) => (isOut ? `${one} as ${one}${mark}` : `${one}${mark} as ${one}`))}}from${JSON.stringify(from)};`;
  const named = Object.values(outputs).flatMap(({ imports }) =>
    imports.flatMap(({ kind, path }) => (kind === 'dynamic-import' ? [resolve(root, path)] : [])),
  );
  const joined = {
    name: 'joined',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /./ }, ({ path, kind, importer, namespace, resolveDir }) => {
        const file = resolve(resolveDir, path);
        if (kind === 'entry-point') {
          if (path in groups) return { path, namespace: 'group' };
          return { path: file, namespace: groupOf.has(file) ? 'door' : 'file' };
        }
        const group = groupOf.get(file)?.group;
        if (kind !== 'import-statement' || group === undefined || namespace === 'door')
          return { path, external: true };
        const isInside = group === (groupOf.get(importer)?.group ?? importer);
        return { path: file, namespace: isInside ? 'file' : 'door' };
      });
      onLoad({ filter: /./, namespace: 'group' }, ({ path }) => ({
        contents: members
          .filter(([, { group }]) => group === path)
          .map(([file, member]) => opened(member, file, true))
          .join('\n'),
        resolveDir: outdir,
      }));
      onLoad({ filter: /./, namespace: 'door' }, ({ path }) => {
        const member = groupOf.get(path);
        return { contents: opened(member, `./${member.group}.js`), resolveDir: outdir };
      });
      onLoad({ filter: /./ }, ({ path }) => ({ contents: texts.get(path), resolveDir: outdir }));
    },
  };
  const kept = [...texts.keys()].filter((path) => !groupOf.has(path) || named.includes(path));
  const entryPoints = [...kept, ...new Set(members.map(([, { group }]) => group))].map((path) => ({
    in: path,
    out: parse(path).name,
  }));
  await bundle(root, {}, { ...forNode, entryPoints, outdir, plugins: [joined], allowOverwrite: true });
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
