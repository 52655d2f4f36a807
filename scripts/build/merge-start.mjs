import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Makes one file of the chunks that a start loads together: each file of its own costs it 2 ms, and how many a bundler makes of them
 * changes with every import. `outputs` is the metafile's, of a build into `outdir` with `name-…` chunks; `from` is the chunk whose
 * static imports, followed to the end, are what a start loads; `into` is the file that replaces them. All others get what they share from it.
 */
export async function mergeStart({ outputs, outdir, from, into, banner }) {
  const nameOf = (path) => path.slice(path.lastIndexOf('/') + 1);
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [nameOf(path), output]));
  const start = staticClosure(byName, nameOf, nameOf(from));
  const others = [...byName.keys()].filter((name) => !start.includes(name));
  // A chunk that is loaded by its own name keeps the names of its exports, the others' are one letter long and meet.
  const exportName = (chunk, name) =>
    byName.get(chunk).entryPoint === undefined ? `${name}_${start.indexOf(chunk)}` : name;
  const reExports = (chunk, source) =>
    `export { ${byName
      .get(chunk)
      .exports.map((name) => source(name, exportName(chunk, name)))
      .join(', ')} }`;
  const common = {
    absWorkingDir: outdir,
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    banner,
    write: false,
    logLevel: 'warning',
  };
  const one = await build({
    ...common,
    stdin: {
      resolveDir: outdir,
      contents: start
        .map((chunk) => `${reExports(chunk, (name, as) => `${name} as ${as}`)} from './${chunk}';`)
        .join('\n'),
    },
    plugins: [onlyBundled((name) => start.includes(name))],
  });
  const rest = await build({
    ...common,
    entryPoints: others.map((name) => `./${name}`),
    // Bare imports say in which order chunks run; what is shared has run by then.
    logOverride: { 'ignored-bare-import': 'silent' },
    plugins: [sharedFromStart(start, into, reExports), onlyBundled(() => false)],
  });
  for (const name of start) rmSync(join(outdir, name));
  writeFileSync(join(outdir, into), one.outputFiles[0].contents);
  for (const { path, contents } of rest.outputFiles) writeFileSync(path, contents);
}

/** The chunk and all that its import statements lead to. */
function staticClosure(byName, nameOf, first) {
  const seen = [];
  const visit = (name) => {
    if (seen.includes(name) || !byName.has(name)) return;
    seen.push(name);
    for (const { kind, path } of byName.get(name).imports)
      if (kind === 'import-statement') visit(nameOf(path));
  };
  visit(first);
  return seen;
}

/** Leaves every import as it is but those of chunks that are to be taken in. */
function onlyBundled(takenIn) {
  return {
    name: 'only-bundled',
    setup({ onResolve }) {
      onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'entry-point' || takenIn(path.replace(/^\.\//, '')) ? undefined : { path, external: true },
      );
    },
  };
}

/** An import of a chunk that is no more is one of the file that holds it now, by the names it has there. */
function sharedFromStart(start, into, reExports) {
  const shim = 'shared-from-start';
  return {
    name: shim,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\.\// }, ({ path, kind }) => {
        const chunk = path.slice(2);
        if (!start.includes(chunk)) return undefined;
        if (kind === 'dynamic-import') return { path: `./${into}`, external: true };
        return { path: chunk, namespace: shim, sideEffects: false };
      });
      onLoad({ filter: /./, namespace: shim }, ({ path }) => ({
        contents: `${reExports(path, (name, as) => `${as} as ${name}`)} from './${into}';`,
        resolveDir: '/',
      }));
    },
  };
}
