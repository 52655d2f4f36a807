import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** The plugin that replaces src/tools/listings.ts by its value: what clients see of the tools, as the tools say it. */
export async function listingsModule({ root, outdir, external, banner }) {
  const outfile = join(outdir, 'listings.mjs');
  await build({
    absWorkingDir: root,
    entryPoints: ['src/tools/listings.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external,
    banner,
    logLevel: 'warning',
  });
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
