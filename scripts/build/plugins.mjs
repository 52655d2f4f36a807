// What the bundler does to sources and to packages beyond joining them; each for a shorter start.
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle, forNode } from './bundles.mjs';

/** `serve`, and all other commands, are builds of their own, named by the imports in src/main.ts: what starts them is one small file. */
export const commandsApart = {
  name: 'commands-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/cli\/(program|serve)\.js$/ }, ({ path }) => ({
      path: path.replace('cli/', ''),
      external: true,
    }));
  },
};

/** As a namespace, zod can be cut down to what is used; as the object `z` it cannot: 100 kB and 10 ms of every start. */
export const zodAsNamespace = {
  name: 'zod-as-namespace',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      if (path.includes('node_modules')) return undefined;
      const source = readFileSync(path, 'utf8').replace(
        "import { z } from 'zod';",
        "import * as z from 'zod';",
      );
      return { contents: source, loader: 'ts' };
    });
  },
};

/** The plugin that replaces src/tools/listings.ts by its value: what clients see of the tools, as the tools say it. */
export async function listingsModule(root, outdir, external) {
  const outfile = join(outdir, 'listings.mjs');
  const entryPoints = ['src/tools/listings.ts'];
  await bundle(root, {}, { ...forNode, entryPoints, outfile, external, minify: false });
  const { listings } = await import(pathToFileURL(outfile).href);
  rmSync(outfile);
  const contents = `export const listings = ${JSON.stringify(listings)};`;
  return {
    name: 'listings-module',
    setup({ onLoad }) {
      onLoad({ filter: /[\\/]src[\\/]tools[\\/]listings\.ts$/ }, () => ({ contents, loader: 'js' }));
    },
  };
}

const sdkFiles = /@modelcontextprotocol[\\/](core|server)[\\/]dist[\\/].*\.mjs$/;

/** The SDK's table of every schema of the protocol by its name, for callers of `specTypeSchemas`, of which there are none here. */
const tableLoops = /^for \(const .*\bregister\(key, .*\);$/gm;

/**
 * The SDK builds 650 schemas when it is loaded, for a table that nothing here asks; what a connection needs it builds later, by era.
 * Without the table and with each definition marked as free of side effects, the bundler leaves out what nothing uses: a fifth of a start.
 * Throws when the SDK no longer looks so.
 */
export const unusedSchemas = {
  name: 'unused-schemas',
  setup({ onLoad }) {
    onLoad({ filter: sdkFiles }, ({ path }) => {
      const source = markPure(readFileSync(path, 'utf8'));
      if (!source.includes('const _specTypeSchemas = {};')) return { contents: source, loader: 'js' };
      const found = source.match(tableLoops)?.length ?? 0;
      if (found !== 2) throw new Error(`${path}: ${found} loops fill the table of schemas, not 2.`);
      return { contents: source.replace(tableLoops, ''), loader: 'js' };
    });
  },
};

/** Wraps each top-level `const X = z.…;` (or `= OtherSchema.…;`) in a call marked as pure. A statement ends at the first unindented `;`. */
function markPure(source) {
  const lines = source.split('\n');
  const marked = [];
  for (let at = 0; at < lines.length; at++) {
    const head = /^const \w+ = (?=(?:z|\w+Schema)\.)/.exec(lines[at])?.[0];
    if (head === undefined) {
      marked.push(lines[at]);
      continue;
    }
    let end = at;
    while (!/^\S.*;$/.test(lines[end])) end++;
    const body = lines.slice(at, end + 1).join('\n');
    marked.push(`${head}/* @__PURE__ */ (() => ${body.slice(head.length, -1)})();`);
    at = end;
  }
  return marked.join('\n');
}
