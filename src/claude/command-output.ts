import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { systemCodeOf } from '../base/errors.js';

/** As much as the CLI itself shows of a command. */
const MAX_BYTES = 32 * 1024;
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
