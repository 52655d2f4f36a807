import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Editor } from '../editor.js';
import { EditorError } from '../editor-error.js';

export interface ChosenShell {
  readonly path: string;
  readonly args: readonly string[];
  /** The person's own, which the editor starts by itself. */
  readonly isDefault: boolean;
}

/** The shell of a request: a profile of the editor, a program, or the person's own. Throws SHELL_NOT_FOUND. */
export async function chosenShell(
  name: string | undefined,
  editor: Editor,
  searchPath: string,
): Promise<ChosenShell> {
  if (name === undefined) return { path: editor.defaultShell(), args: [], isDefault: true };
  const profile = editor.profile(name);
  if (profile !== undefined) return { ...profile, isDefault: false };
  const candidates = isAbsolute(name)
    ? [name]
    : name.includes('/')
      ? []
      : searchPath
          .split(delimiter)
          .filter(isAbsolute)
          .map((folder) => join(folder, name));
  for (const path of candidates) if (await isProgram(path)) return { path, args: [], isDefault: false };
  throw new EditorError(
    'SHELL_NOT_FOUND',
    `There is no shell ${JSON.stringify(name)}.`,
    'Name a profile of terminal.integrated.profiles, a program on PATH, or an absolute path.',
  );
}

/** Throws FOLDER_NOT_FOUND. */
export async function requireFolder(path: string): Promise<void> {
  const facts = isAbsolute(path) ? await stat(path).catch(() => undefined) : undefined;
  if (facts?.isDirectory() === true) return;
  throw new EditorError(
    'FOLDER_NOT_FOUND',
    `${path} is not the absolute path of a folder.`,
    'Choose another cwd.',
  );
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    // It is not there, or not for this user.
    return false;
  }
}
