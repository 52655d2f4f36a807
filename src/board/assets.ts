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

const COMMAND_MARK = '__COMMAND__';

/** The files of the page, by path; a small fixed set, held in memory. `command`: how a person runs this program. Throws as `readdir` when the page was not built. */
export async function readAssets(folder: string, command: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>();
  for (const name of await readdir(folder)) {
    const type = types[extname(name)];
    // Other pages are those that clients show inside a chat.
    if (type === undefined || (extname(name) === '.html' && name !== SHELL)) continue;
    const body = await readFile(join(folder, name));
    if (name === SHELL) assets.set('/', { type, body: withCommand(body, command) });
    else assets.set(`/${name}`, { type, body });
  }
  return assets;
}

function withCommand(shell: Buffer, command: string): Buffer {
  const escaped = command.replace(/[&"<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return Buffer.from(shell.toString('utf8').replaceAll(COMMAND_MARK, () => escaped));
}
