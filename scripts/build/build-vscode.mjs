// Builds the extension of VS Code into vscode/dist: one file, which the editor loads as CommonJS, and the page of its view.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { pageOptions } from './build-page.mjs';
import { licences } from './licences.mjs';
import { folderBeside, swapFolder } from './swap-folder.mjs';
import { englishOnly, zodAsNamespace } from './zod-plugins.mjs';

/** The outputs of the bundler. */
export async function buildVscode({ root }) {
  const outdir = folderBeside(root);
  const page = await build({
    ...pageOptions,
    absWorkingDir: root,
    entryPoints: { page: 'web/editor/main.tsx' },
    outdir: join(outdir, 'web'),
    splitting: true,
    chunkNames: '[name]-[hash]',
    format: 'esm',
    metafile: true,
  });
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: { extension: 'vscode/src/extension.ts' },
    outdir,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    // The editor's own, and the optional native parts of `ws`.
    external: ['vscode', 'bufferutil', 'utf-8-validate'],
    minify: true,
    legalComments: 'none',
    plugins: [englishOnly, zodAsNamespace],
    metafile: true,
    logLevel: 'warning',
  });
  const outputs = { ...metafile.outputs, ...page.metafile.outputs };
  writeFileSync(join(outdir, 'THIRD_PARTY_LICENSES.txt'), licences(outputs, root));
  swapFolder(outdir, join(root, 'vscode', 'dist'));
  return outputs;
}
