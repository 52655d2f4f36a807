#!/usr/bin/env node
// Bundles the command and the keeper into dist/. What only a later call needs lies in files of its own.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, folderBeside, forNode, joinOutputs, loadedAtOnce, swapFolder } from './build/bundles.mjs';
import { licences } from './build/licences.mjs';
import { buildPages, buildVscode } from './build/pages.mjs';
import { commandsApart, listingsModule, unusedSchemas, zodAsNamespace } from './build/plugins.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const outdir = folderBeside(root);

/**
 * Each program with the sources that a first call about a file, and then one about folders or git, loads, too: what each of these
 * lists loads is joined. Builds of their own rather than one, so that none loads what only another one needs.
 */
const programs = {
  main: { entry: 'src/main.ts' },
  serve: {
    entry: 'src/cli/serve.ts',
    read: ['src/os/find-processes.ts', 'src/services/file-services.ts', 'src/tools/files/read.ts'],
    files: ['src/services/git-services.ts', 'src/tools/files/list.ts'],
  },
  program: { entry: 'src/cli/program.ts' },
  keeper: { entry: 'src/keeper/main/keeper-main.ts' },
  board: { entry: 'src/board-main.ts' },
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
/** Found at run time: native modules, by what opens a terminal, and the program that searches. */
const external = ['@lydell/node-pty', 'node-pty', '@vscode/ripgrep'];
const options = {
  ...forNode,
  outdir,
  splitting: true,
  // Joined and written by a second pass, which gives each file its banner.
  write: false,
  banner: {},
  external: [...external, ...Object.keys(apart).map((file) => `./${file}`)],
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
  await listingsModule(root, outdir, [...external, 'dockerode']),
  zodAsNamespace,
  unusedSchemas,
  commandsApart,
];
for (const [name, { entry, ...lists }] of Object.entries(programs)) {
  const named = { entryPoints: { [name]: entry }, chunkNames: `${name}-[hash]` };
  const made = await bundle(root, outputs, { ...options, ...named, plugins });
  const done = loadedAtOnce(made.outputs, [entry]);
  if (name === 'serve') checkStart(done, made.outputs);
  const [isImported] = made.outputs[[...done].at(-1)].exports;
  // What runs itself stays apart, since it awaits the rest.
  const groups = isImported ? { [name]: [...done] } : { [`${name}-start`]: [...done].slice(0, -1) };
  for (const [list, files] of Object.entries(lists)) {
    groups[`${name}-${list}`] = [...loadedAtOnce(made.outputs, files)].filter((path) => !done.has(path));
    for (const path of groups[`${name}-${list}`]) done.add(path);
  }
  await joinOutputs(root, outdir, made, groups);
}
for (const [file, contents] of Object.entries(apart))
  await bundle(root, outputs, {
    ...forNode,
    stdin: { contents, resolveDir: root },
    outfile: join(outdir, file),
    format: 'cjs',
    banner: {},
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
function checkStart(loaded, made) {
  const late =
    /node_modules\/(@xterm|@lydell|node-pty|commander|@clack|re2js|@modelcontextprotocol\/client)|^src\/(pty|screen|os\/process|tools\/[a-z]+)\//;
  const wrong = [...loaded]
    .flatMap((path) => Object.keys(made[path].inputs))
    .filter((path) => late.test(path));
  if (wrong.length > 0) throw new Error(`A start would load ${wrong.join(', ')}.`);
}
