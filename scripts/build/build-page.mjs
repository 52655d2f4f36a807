// Builds the board's pages into dist/web: for a browser a script, its styles, and the terminal in a chunk of its own.
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { buildApps } from './build-apps.mjs';

/** As every page is built. */
export const pageOptions = {
  bundle: true,
  platform: 'browser',
  target: ['chrome111', 'firefox114', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
  // As for Node: its class is a member of what it exports.
  alias: { '@xterm/addon-serialize': './node_modules/@xterm/addon-serialize/lib/addon-serialize.js' },
  legalComments: 'none',
  logLevel: 'warning',
};

/** The outputs of the bundler, for the list of licences. */
export async function buildPage({ root, outdir }) {
  mkdirSync(outdir, { recursive: true });
  const { metafile } = await build({
    ...pageOptions,
    absWorkingDir: root,
    entryPoints: { app: 'web/main.tsx' },
    outdir,
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    metafile: true,
  });
  for (const name of ['index.html', 'icon.svg']) copyFileSync(join(root, 'web', name), join(outdir, name));
  return { ...metafile.outputs, ...(await buildApps({ root, outdir, options: pageOptions })) };
}
