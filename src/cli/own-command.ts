import { realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { shellWord } from '../base/text/shell-word.js';

const NAME = 'claude-code-bridge';

export interface OwnStart {
  /** The program file as this process was started with it: `process.argv[1]`. */
  readonly entry: string;
  readonly path: string | undefined;
  readonly homeDir: string;
}

/** How a person runs this installation: by its name if it is on PATH, by npx, or by Node and the file. */
export async function ownCommand({ entry, path, homeDir }: OwnStart): Promise<string> {
  // npx puts its own folder on PATH, which no other shell has.
  if (/[\\/]node_modules[\\/]\.bin[\\/]/.test(entry)) return `npx ${NAME}`;
  const file = await realpathIfAny(entry);
  const folders = (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const links = await Promise.all(folders.map((folder) => realpathIfAny(join(folder, NAME))));
  return file !== undefined && links.includes(file) ? NAME : `node ${shellWord(entry, homeDir)}`;
}

async function realpathIfAny(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
