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
      const source = onDemand(markPure(readFileSync(path, 'utf8')), path);
      if (!source.includes('const _specTypeSchemas = {};')) return { contents: source, loader: 'js' };
      const found = source.match(tableLoops)?.length ?? 0;
      if (found !== 2) throw new Error(`${path}: ${found} loops fill the table of schemas, not 2.`);
      return { contents: source.replace(tableLoops, ''), loader: 'js' };
    });
  },
};

/** Wraps each top-level `const X = z.…;` (or `= OtherSchema.…;`) in a call marked as pure. The next statement is not indented. */
function markPure(source) {
  const statement = /^(const \w+ = )((?:z|\w+Schema)\.[^]*?);$(?=\n(?:\n|[^\s})\]]))/gm;
  return source.replace(statement, '$1/* @__PURE__ */ (() => $2)();');
}

/** The SDK's function that makes the schemas of the era of 2025, each `const X = …;` in it, and each field of what it returns. */
const eraFunctions = /^function build\$1\(\) \{\n[^]*?^\}/gm;
const eraSchemas = /^\tconst ([\w$]+) = ([^]*?);\n(?=\t(?:const |function |return \{|\/[*/])|(?![^]))/gm;
const eraFields = /^\t\t(\w+): ([^]*?),?\n(?=\t\t(?:\w+: |\/[*/])|\t\};)/gm;
/** A field of the tables of an era: the schema of a method. */
const methodFields = /^(\t+)("?[\w/]+"?): (s\.\w+)(,?)$/gm;

/**
 * Of the 150 schemas of that era, a start needs a dozen. Each is made when it is asked for: 6 MB less, and a twentieth of a start.
 * Throws when the SDK no longer looks so.
 */
function onDemand(source, path) {
  if (/[\\/]src-[^\\/]+$/.test(path) && source.match(eraFunctions) === null)
    throw new Error(`${path}: no function makes the schemas of 2025.`);
  return source
    .replace(
      methodFields,
      (_all, tabs, name, schema, comma) => `${tabs}get ${name}() { return ${schema}; }${comma}`,
    )
    .replace(eraFunctions, (body) => {
      const names = new Set([...body.matchAll(eraSchemas)].map(([, name]) => name));
      const called = body.replace(/(?<![\w$]|(?<!\.\.)\.|const )[\w$]+(?![\w$:])/g, (word) =>
        names.has(word) ? `${word}()` : word,
      );
      const [head, fields] = called.replace('{\n', '{\nconst made = {};\n').split('\treturn {\n');
      return [
        head.replace(eraSchemas, (_all, name, code) => `const ${name} = () => (made.${name} ??= ${code});\n`),
        fields.replace(
          eraFields,
          (_all, name, code) => `get ${name}() { return made.${name} ??= ${code}; },\n`,
        ),
      ].join('\treturn {\n');
    });
}
