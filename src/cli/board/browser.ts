import { spawn } from 'node:child_process';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecret } from '../../base/ids.js';

const OWNER_ONLY = 0o600;
/** The code in a link is worth nothing after this. */
const LINK_LIFE_MS = 60_000;
const FILE_PREFIX = 'open-';

/**
 * Opens a link; false when the program is missing or fails. The link stands in a file of this user alone and not in a command line,
 * which every user of the machine can read.
 */
export async function openInBrowser(program: string, url: string, folder: string): Promise<boolean> {
  await removeOldFiles(folder);
  const file = join(folder, `${FILE_PREFIX}${createSecret()}.html`);
  const html = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${url}"><title>Opening the board</title>\n`;
  await writeFile(file, html, { mode: OWNER_ONLY, flag: 'wx' });
  const isOpened = await ran(program, `file://${file}`);
  if (!isOpened) await rm(file, { force: true });
  return isOpened;
}

function ran(program: string, argument: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [argument], { stdio: 'ignore', detached: true });
    child.on('error', () => resolve(false));
    child.on('exit', (code) => resolve(code === 0));
    child.unref();
  });
}

async function removeOldFiles(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(FILE_PREFIX)) continue;
    const file = join(folder, name);
    if (Date.now() - (await stat(file)).mtimeMs > LINK_LIFE_MS) await rm(file, { force: true });
  }
}
