import { realpath, rm, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { BridgeError, messageOf, systemCodeOf } from '../base/errors.js';
import { makeFolder, replaceFile } from '../base/files/folders.js';
import { isWithin } from '../projects/path-in-project.js';

export const LOG_FOLDER = join('.claude', 'mcp-logs');
export const CURRENT_PROMPT = 'current_task_prompt.md';
/** The folder hides itself from git, so that the user's own .gitignore stays as it is. */
const IGNORE_ALL = '# Written by claude-code-bridge: task logs and prompts are not for the repository.\n*\n';
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** What a task keeps in its project, for people. */
export interface ProjectFiles {
  readonly logFile: string;
  readonly promptFile: string;
  /** Takes back the two files; used when the task never began. */
  readonly remove: () => Promise<void>;
}

/** Where the files of a task lie in its project, before there are any. Pure. */
export function projectFilePaths(
  projectPath: string,
  taskId: string,
): Pick<ProjectFiles, 'logFile' | 'promptFile'> {
  const start = join(projectPath, LOG_FOLDER, taskId);
  return { logFile: `${start}.log`, promptFile: `${start}.prompt.md` };
}

/**
 * Makes `.claude/mcp-logs/` in the project with the task's empty log and a copy of its prompt (also as
 * `current_task_prompt.md`). Throws NOT_WRITABLE when the project cannot be written, PATH_NOT_ALLOWED when the folder is a
 * link that leads out of the project.
 */
export async function createProjectFiles(
  projectPath: string,
  taskId: string,
  prompt: string,
): Promise<ProjectFiles> {
  const folder = await logFolder(projectPath);
  const start = join(folder, taskId);
  const [logFile, promptFile] = [`${start}.log`, `${start}.prompt.md`];
  const remove = async (): Promise<void> => {
    await rm(logFile, { force: true });
    await rm(promptFile, { force: true });
  };
  try {
    await writeFile(join(folder, '.gitignore'), IGNORE_ALL, { flag: 'wx' }).catch((error: unknown) => {
      // One that is there already is left as it is, also when it is somebody's link.
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    });
    await writeFile(logFile, '', { mode: OWNER_ONLY, flag: 'wx' });
    await writeFile(promptFile, prompt, { mode: OWNER_ONLY, flag: 'wx' });
    await replaceFile(join(folder, CURRENT_PROMPT), prompt, { mode: OWNER_ONLY, durable: false });
  } catch (error) {
    await remove();
    throw notWritable(projectPath, error);
  }
  return { logFile, promptFile, remove };
}

/** The project's folder for logs, made when it is missing. Throws NOT_WRITABLE or PATH_NOT_ALLOWED, as above. */
export function logFolder(projectPath: string): Promise<string> {
  return folderInProject(projectPath, LOG_FOLDER);
}

/** A folder of the project by its relative path, made when it is missing; its real path. Throws NOT_WRITABLE or PATH_NOT_ALLOWED. */
export async function folderInProject(projectPath: string, path: string): Promise<string> {
  let real = projectPath;
  // One by one: a folder made through a link would lie outside before its place is known, and a project that is gone stays gone.
  for (const name of path.split(sep)) {
    const folder = join(real, name);
    try {
      await makeFolder(folder, OWNER_ONLY_FOLDER);
      real = await realpath(folder);
    } catch (error) {
      throw notWritable(projectPath, error);
    }
    if (!isWithin(real, projectPath)) {
      throw new BridgeError(
        'PATH_NOT_ALLOWED',
        `The folder ${folder} is a link that leads out of the project, to ${real}.`,
        `Remove the link, or make ${folder} a folder of the project, and start the task again.`,
      );
    }
  }
  return real;
}

function notWritable(projectPath: string, cause: unknown): BridgeError {
  return new BridgeError(
    'NOT_WRITABLE',
    `The project ${projectPath} cannot be written to: ${messageOf(cause)}.`,
    'A task keeps its log in .claude/mcp-logs of the project and Claude Code works there: make the folder writable, or choose another project.',
    { cause },
  );
}
