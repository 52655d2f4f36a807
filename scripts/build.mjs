#!/usr/bin/env node
// Bundles the command and the keeper into dist/. What only a later call needs lies in chunks of its own.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildPage } from './build/build-page.mjs';
import { buildVscode } from './build/build-vscode.mjs';
import { licences } from './build/licences.mjs';
import { listingsModule } from './build/listings-module.mjs';
import { folderBeside, swapFolder } from './build/swap-folder.mjs';
import { unusedSchemas } from './build/unused-schemas.mjs';
import { englishOnly, zodAsNamespace } from './build/zod-plugins.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const outdir = folderBeside(root);

/** Found at run time: native modules, by what opens a terminal, and the program that searches. */
const external = ['@lydell/node-pty', 'node-pty', '@vscode/ripgrep', 'dockerode'];

/** Bundled CommonJS calls `require`, which an ES module does not have. */
const banner = {
  js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
};

/**
 * The SDK's own JSON Schema validator, 300 kB of it, checks only what this server does not ask for (see src/mcp/server.ts).
 * Importing node:process as a module reads every one of its getters, which costs 15 ms.
 */
const noSchemaValidator = {
  name: 'no-schema-validator',
  setup({ onResolve, onLoad }) {
    const contents =
      "export const process = globalThis.process; export class DefaultJsonSchemaValidator { getValidator() { throw new Error('not bundled'); } }";
    onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: 'shims',
      namespace: 'shims',
    }));
    onLoad({ filter: /.*/, namespace: 'shims' }, () => ({ contents, loader: 'js' }));
  },
};

/** Commands other than `serve` are a build of their own, named by the import in src/main.ts. */
const commandsApart = {
  name: 'commands-apart',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/cli\/program\.js$/ }, () => ({ path: './program.js', external: true }));
  },
};

/** What a screen needs of each package. */
const emulatorClasses = {
  '@xterm/headless': 'Terminal',
  '@xterm/addon-unicode11': 'Unicode11Addon',
  '@xterm/addon-serialize': 'SerializeAddon',
};
const emulatorFile = 'terminal-emulator.cjs';

/**
 * The terminal emulator is a quarter of what a keeper would load before it starts its agent. It lies in a file of its own,
 * which is loaded when the first screen is made: the agent has been started by then.
 */
const emulatorApart = {
  name: 'emulator-apart',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@xterm\// }, ({ path }) => ({ path, namespace: 'emulator' }));
    onLoad({ filter: /.*/, namespace: 'emulator' }, ({ path }) => {
      const name = emulatorClasses[path];
      if (name === undefined) return { errors: [{ text: `${path} is not part of ${emulatorFile}.` }] };
      return {
        contents: `export default { get ${name}() { return require('./${emulatorFile}').${name}; } };`,
      };
    });
  },
};

/** The client of a Docker engine is loaded with the first container, from one file for all programs. */
const dockerFile = 'docker-client.cjs';
/**
 * What dockerode loads and the bridge does not ask of it: ssh, BuildKit, folders to build images of (800 kB, some of it native),
 * and the reader of certificates, which the bridge reads itself.
 */
const unused = [
  ...['ssh2', 'protobufjs', '@grpc/grpc-js', '@grpc/proto-loader', 'tar-fs', '@balena/dockerignore'],
  'split-ca',
];

/** Builds of their own rather than one: code that they share would lie in a dozen small files, and each costs a start 2 ms. */
const entries = {
  main: 'src/main.ts',
  program: 'src/cli/program.ts',
  keeper: 'src/keeper/main/keeper-main.ts',
  board: 'src/board-main.ts',
};

process.once('exit', () => rmSync(outdir, { recursive: true, force: true }));
const outputs = {};
const listings = await listingsModule({ root, outdir, external, banner });
for (const [name, file] of Object.entries(entries)) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { [name]: file },
    outdir,
    bundle: true,
    splitting: true,
    chunkNames: `${name}-[hash]`,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [...external, `./${emulatorFile}`, `./${dockerFile}`],
    minify: true,
    legalComments: 'none',
    banner,
    // Its `main` is a UMD wrapper whose requires no bundler can follow.
    alias: {
      'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js',
      dockerode: `./${dockerFile}`,
    },
    plugins: [
      // Before any other that loads sources.
      listings,
      englishOnly,
      zodAsNamespace,
      noSchemaValidator,
      unusedSchemas,
      commandsApart,
      emulatorApart,
    ],
    metafile: true,
    logLevel: 'warning',
  });
  Object.assign(outputs, metafile.outputs);
}
const emulator = Object.entries(emulatorClasses)
  .map(([path, name]) => `exports.${name} = require('${path}').${name};`)
  .join(' ');
for (const [file, contents] of [
  [emulatorFile, emulator],
  [dockerFile, "module.exports = require('dockerode');"],
]) {
  const { metafile } = await build({
    stdin: { contents, resolveDir: root },
    outfile: join(outdir, file),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minify: true,
    legalComments: 'none',
    alias: Object.fromEntries(unused.map((name) => [name, './scripts/build/unused.cjs'])),
    metafile: true,
    logLevel: 'warning',
  });
  Object.assign(outputs, metafile.outputs);
}
Object.assign(outputs, await buildPage({ root, outdir: join(outdir, 'web') }));
checkStart(outputs);
const vscodeOutputs = await buildVscode({ root });
const mainFile = join(outdir, 'main.js');
writeFileSync(mainFile, `#!/usr/bin/env node\n${readFileSync(mainFile, 'utf8')}`);
chmodSync(mainFile, 0o755);
// What a release says of bundled code is made from these: see scripts/release/bundled-packages.ts.
const metaFolder = join(root, '.cache', 'build');
mkdirSync(metaFolder, { recursive: true });
for (const [name, all] of Object.entries({ dist: outputs, vscode: vscodeOutputs }))
  writeFileSync(join(metaFolder, `${name}.meta.json`), JSON.stringify({ outputs: all }));
writeFileSync(join(outdir, 'THIRD_PARTY_LICENSES.txt'), licences(outputs, root));
swapFolder(outdir, join(root, 'dist'));

/** Throws naming what a start would load and must not: terminals, command lines, drivers and tools belong to later calls. */
function checkStart(all) {
  const late =
    /node_modules\/(@xterm|@lydell|node-pty|commander|@clack|re2js|@modelcontextprotocol\/client)|^src\/(pty|screen|tools\/[a-z]+)\//;
  const serve = Object.keys(all).find((path) => all[path].entryPoint === 'src/cli/serve.ts');
  const seen = new Set();
  const visit = (path) => {
    if (seen.has(path) || all[path] === undefined) return;
    seen.add(path);
    for (const one of all[path].imports) if (one.kind === 'import-statement') visit(one.path);
  };
  visit(relative(root, join(outdir, 'main.js')));
  visit(serve);
  const loaded = [...seen].flatMap((path) => Object.keys(all[path].inputs)).filter((path) => late.test(path));
  if (serve === undefined || loaded.length > 0) throw new Error(`A start would load ${loaded.join(', ')}.`);
}
