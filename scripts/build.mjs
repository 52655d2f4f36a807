#!/usr/bin/env node
// Bundles the command and the keeper into dist/. What only a later call needs lies in chunks of its own.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  bundle,
  folderBeside,
  forNode,
  joinStart,
  licences,
  loadedAtOnce,
  passDoors,
  swapFolder,
} from './build/bundles.mjs';
import { buildPages, buildVscode } from './build/pages.mjs';
import {
  commandsApart,
  englishOnly,
  listingsModule,
  unusedSchemas,
  zodAsNamespace,
} from './build/plugins.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const outdir = folderBeside(root);

/** Builds of their own rather than one: code that they share would lie in a dozen small files, and each costs a start 2 ms. */
const entries = {
  main: 'src/main.ts',
  program: 'src/cli/program.ts',
  keeper: 'src/keeper/main/keeper-main.ts',
  board: 'src/board-main.ts',
};
/** The client of a Docker engine and the emulator of terminals, each loaded from one file by all programs. */
const apart = {
  'docker-client.cjs': "module.exports = require('dockerode');",
  'terminal-emulator.cjs':
    "module.exports = { ...require('@xterm/headless'), ...require('@xterm/addon-unicode11'), ...require('@xterm/addon-serialize') };",
};
/**
 * What dockerode loads and the bridge does not ask of it: ssh, BuildKit, folders to build images of (800 kB, some of it native),
 * and the reader of certificates, which the bridge reads itself.
 */
const unused = [
  ...['ssh2', 'protobufjs', '@grpc/grpc-js', '@grpc/proto-loader', 'tar-fs', '@balena/dockerignore'],
  'split-ca',
];
const options = {
  ...forNode,
  outdir,
  splitting: true,
  format: 'esm',
  // Found at run time: native modules, by what opens a terminal, and the program that searches.
  external: [
    '@lydell/node-pty',
    'node-pty',
    '@vscode/ripgrep',
    ...Object.keys(apart).map((file) => `./${file}`),
  ],
  // Bundled CommonJS calls `require`, which an ES module does not have.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  alias: {
    // Its `main` is a UMD wrapper whose requires no bundler can follow.
    'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js',
    '@modelcontextprotocol/server/_shims': './scripts/build/shims.mjs',
    dockerode: './docker-client.cjs',
    '@xterm/headless': './terminal-emulator.cjs',
    '@xterm/addon-unicode11': './terminal-emulator.cjs',
    '@xterm/addon-serialize': './terminal-emulator.cjs',
  },
};

process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
const outputs = {};
// First the listings: they take the place of a source.
const plugins = [
  await listingsModule(root, { ...options, external: [...options.external, 'dockerode'] }),
  englishOnly,
  zodAsNamespace,
  unusedSchemas,
  commandsApart,
];
for (const [name, file] of Object.entries(entries))
  await bundle(root, outputs, {
    ...options,
    plugins,
    entryPoints: { [name]: file },
    chunkNames: `${name}-[hash]`,
  });
const outputOf = (file) => Object.keys(outputs).find((path) => outputs[path].entryPoint === file);
const serve = loadedAtOnce(outputs, outputOf('src/cli/serve.ts'));
checkStart(serve);
const started = await joinStart(
  root,
  outputs,
  options,
  'main',
  serve,
  loadedAtOnce(outputs, outputOf(entries.main)),
);
// What a first call about files or git loads, too.
const later = new Set();
for (const file of ['os/find-processes', 'services/git-services', 'tools/files/list', 'tools/files/read'])
  loadedAtOnce(outputs, outputOf(`src/${file}.ts`), later);
await joinStart(root, outputs, options, 'files', later, serve, started);
for (const name of ['keeper', 'board']) {
  const entry = outputOf(entries[name]);
  await joinStart(root, outputs, options, name, loadedAtOnce(outputs, entry), new Set([entry]));
}
passDoors(outdir);
for (const [file, contents] of Object.entries(apart))
  await bundle(root, outputs, {
    ...forNode,
    stdin: { contents, resolveDir: root },
    outfile: join(outdir, file),
    format: 'cjs',
    alias: Object.fromEntries(unused.map((name) => [name, './scripts/build/unused.cjs'])),
  });
await buildPages({ root, outdir: join(outdir, 'web'), outputs });
await buildVscode({ root });
const mainFile = join(outdir, 'main.js');
writeFileSync(mainFile, `#!/usr/bin/env node\n${readFileSync(mainFile, 'utf8')}`);
chmodSync(mainFile, 0o755);
writeFileSync(join(outdir, 'THIRD_PARTY_LICENSES.txt'), licences(outputs, root));
swapFolder(outdir, join(root, 'dist'));

/** Throws naming what a start would load and must not: terminals, processes, command lines, drivers and tools belong to later calls. */
function checkStart(loaded) {
  const late =
    /node_modules\/(@xterm|@lydell|node-pty|commander|@clack|re2js|@modelcontextprotocol\/client)|^src\/(pty|screen|os\/process|tools\/[a-z]+)\//;
  const wrong = [...loaded]
    .flatMap((path) => Object.keys(outputs[path].inputs))
    .filter((path) => late.test(path));
  if (wrong.length > 0) throw new Error(`A start would load ${wrong.join(', ')}.`);
}
