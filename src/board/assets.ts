import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { Asset } from './http-server.js';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const SHELL = 'index.html';

/** The files of the page, by path; a small fixed set, held in memory. Throws as `readdir` when the page was not built. */
export async function readAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  for (const name of await readdir(folder)) {
    const type = types[extname(name)];
    // Other pages are those that clients show inside a chat.
    if (type === undefined || (extname(name) === '.html' && name !== SHELL)) continue;
    assets.set(name === SHELL ? '/' : `/${name}`, { type, body: await readFile(join(folder, name)) });
  }
  return assets;
}
