import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';

/** As much as the CLI itself shows of a command. */
const MAX_BYTES = 32 * 1024;
/** More projects than one user works in at a time. */
const MAX_FOLDERS = 1_000;
const OUTPUT_FILE = /\/([^/]+)\/tasks\/[A-Za-z0-9_-]+\.output$/;

/**
 * The last that a command of the session has printed, from the file in which the CLI collects it; undefined if there is none. The path
 * comes from a transcript, which the agent can write to: a link, or a file elsewhere, is not read.
 */
export function readCommandOutput(path: string, sessionId: string): string | undefined {
  if (!isOutputOf(path, sessionId)) return undefined;
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const facts = fstatSync(file);
    if (!facts.isFile() || facts.nlink !== 1 || !isOutputOf(pathOf(file, path), sessionId)) return undefined;
    const buffer = Buffer.alloc(MAX_BYTES);
    const bytesRead = readSync(file, buffer, 0, MAX_BYTES, Math.max(0, facts.size - MAX_BYTES));
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    // Gone, or in a container: the output only adds to the log.
    if (systemCodeOf(error) === undefined) throw error;
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** The files with the output of commands of a session, oldest first. */
export async function findCommandOutputs(
  env: Readonly<Record<string, string | undefined>>,
  sessionId: string,
): Promise<string[]> {
  for (const temp of [env['CLAUDE_CODE_TMPDIR'], env['TMPDIR'], '/tmp']) {
    if (temp === undefined || temp === '') continue;
    const folder = join(temp, `claude-${process.getuid?.() ?? 0}`);
    for (const project of (await namesIn(folder)).slice(0, MAX_FOLDERS)) {
      const tasks = join(folder, project, sessionId, 'tasks');
      const names = (await namesIn(tasks)).filter((name) => name.endsWith('.output'));
      if (names.length === 0) continue;
      const files = await Promise.all(names.map((name) => withBirth(join(tasks, name))));
      return files.sort((one, other) => one.bornMs - other.bornMs).map(({ path }) => path);
    }
  }
  return [];
}

/** The CLI's id of the command whose output the file has. */
export function commandIdOf(path: string): string {
  return basename(path, '.output');
}

function isOutputOf(path: string, sessionId: string): boolean {
  return OUTPUT_FILE.exec(path)?.[1] === sessionId;
}

/** Where the open file is: a folder on the way may have been a link. */
function pathOf(file: number, path: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${file}`);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    // Not Linux.
    return realpathSync(path);
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return [];
  }
}

async function withBirth(path: string): Promise<{ readonly path: string; readonly bornMs: number }> {
  try {
    return { path, bornMs: (await stat(path)).birthtimeMs };
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return { path, bornMs: 0 };
  }
}
