import { mkdirSync, readdirSync, readlinkSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { systemCodeOf } from '../base/errors.js';
import { announce, ownText, stateOfText } from './presence.js';

const OWNER_ONLY = 0o700;

/**
 * Says that this process starts a task, before the task has a folder: a link `starting/<task_id>` whose text names the process. It
 * stays until the first sweep that finds a record or no process. Throws STATE_UNUSABLE, and the system's error.
 */
export async function markStart(statePath: string, taskId: string): Promise<void> {
  await announce(statePath);
  const text = await ownText();
  mkdirSync(folderOf(statePath), { recursive: true, mode: OWNER_ONLY });
  try {
    symlinkSync(text, join(folderOf(statePath), taskId));
  } catch (error) {
    // The folder of the task says that the id is taken.
    if (systemCodeOf(error) !== 'EEXIST') throw error;
  }
}

/** Whether the process that starts the task lives, or is not known to be gone. No clock decides that. Throws the system's error. */
export async function isStarting(statePath: string, taskId: string): Promise<boolean> {
  try {
    const text = readlinkSync(join(folderOf(statePath), taskId));
    return (await stateOfText(text, statePath)) !== 'gone';
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

/** For a task that is removed. Throws the system's error. */
export function unmarkStart(statePath: string, taskId: string): void {
  try {
    unlinkSync(join(folderOf(statePath), taskId));
  } catch (error) {
    // A sweep, or another server, was faster.
    if (systemCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** Removes the links of tasks for which `isOver` holds, and of processes that are gone. Throws the system's error. */
export async function sweepStarts(statePath: string, isOver: (taskId: string) => boolean): Promise<void> {
  for (const taskId of namesIn(folderOf(statePath))) {
    if (!isOver(taskId) && (await isStarting(statePath, taskId))) continue;
    unmarkStart(statePath, taskId);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function folderOf(statePath: string): string {
  return join(statePath, 'starting');
}
