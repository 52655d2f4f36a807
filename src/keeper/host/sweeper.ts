import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { BridgeError, messageOf, systemCodeOf } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { EndMarked } from '../../os/choose-processes.js';
import { machineOf } from '../../store/machine.js';
import { sweepPresence } from '../../store/presence.js';
import { isStarting, sweepStarts } from '../../store/starting.js';
import { SOCKET_SUFFIX, type RuntimeDir } from '../../store/runtime-dir.js';
import type { StateDir } from '../../store/state-dir.js';
import { readRecordFile, type RecordFile } from '../../tasks/record/record-file.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import { openSocket } from '../wire/link.js';

/** A keeper is ready or has failed within seconds; a task's folder that still has no record after this time never gets one. */
const STALE_FOLDER_MS = 10 * 60_000;
/** A keeper listens as soon as its socket exists; a socket of this age without a listener is stale. */
const STALE_SOCKET_MS = 60_000;

export interface SweeperParts {
  readonly stateDir: StateDir;
  readonly runtimeDir: RuntimeDir;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the task's record, after it has written the end of a task whose keeper is gone. */
  readonly settle: (taskId: string) => Promise<TaskRecord>;
  readonly endMarked: EndMarked;
  /** Marks that processes carry, and all command lines. */
  readonly running: () => Promise<{ readonly marks: ReadonlySet<string>; readonly commands: string }>;
}

export interface Swept {
  /** Ids of tasks whose end was written. */
  readonly ended: string[];
  /** Ids of tasks that have a record. */
  readonly begun: Set<string>;
  /** Ids of folders of tasks that never began. */
  readonly folders: string[];
  /** Processes of tasks that had ended. */
  processes: number;
  /** Paths of sockets without a listener. */
  readonly sockets: string[];
}

/**
 * Ends and removes what dead keepers left behind: unfinished tasks, processes that carry the mark of an ended task,
 * sockets without a listener. Only what provably has no owner is touched, so any number
 * of servers may do this at once. Errors are logged, and the sweep continues.
 */
export async function sweep(parts: SweeperParts): Promise<Swept> {
  const swept: Swept = { begun: new Set(), ended: [], folders: [], processes: 0, sockets: [] };
  // Nothing there is ours to end or remove.
  if ((await machineOf(parts.stateDir.path)) === 'other') return swept;
  const reported = (what: string, act: () => Promise<void>): Promise<void> => logged(parts, what, act);
  const running = await parts.running();
  for (const taskId of await parts.stateDir.listTaskIds())
    await reported(taskId, () => sweepTask(taskId, parts, running, swept));
  await reported('sockets', () => sweepSockets(parts, swept));
  await reported('starts', () => sweepStarts(parts.stateDir.path, (taskId) => swept.begun.has(taskId)));
  await reported('presence', () => sweepPresence(parts.stateDir.path));
  const { ended, folders, processes, sockets } = swept;
  if (ended.length + folders.length + processes + sockets.length > 0)
    parts.logger.info('removed what dead keepers left behind', { ended, folders, processes, sockets });
  return swept;
}

async function logged({ logger }: SweeperParts, what: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    logger.warn('a part of the sweep failed', { what, error: messageOf(error) });
  }
}

async function sweepTask(
  taskId: string,
  parts: SweeperParts,
  running: Awaited<ReturnType<SweeperParts['running']>>,
  swept: Swept,
): Promise<void> {
  const { stateDir, settle, endMarked } = parts;
  const file = await readableRecord(taskId, parts);
  if (file === undefined) return;
  if (file.state === 'missing') {
    const changedMs = await changedAt(taskId, stateDir);
    // A task may be starting in it, also when the clock was set. A keeper has its task's id in its command line.
    const isStale = changedMs !== undefined && parts.clock.now() - changedMs >= STALE_FOLDER_MS;
    if (isStale && !running.commands.includes(taskId) && !(await isStarting(stateDir.path, taskId))) {
      await stateDir.removeTaskDir(taskId);
      swept.folders.push(taskId);
    }
  }
  if (file.state !== 'ok') return;
  swept.begun.add(taskId);
  if (isFinal(file.record.status)) {
    const { process_mark: mark, keeper } = file.record;
    if (running.marks.has(mark)) swept.processes += await endMarked(mark, keeper?.start_time ?? undefined);
    return;
  }
  try {
    if (isFinal((await settle(taskId)).status)) swept.ended.push(taskId);
  } catch (error) {
    // It was pruned meanwhile.
    if (!(error instanceof BridgeError) || error.code !== 'TASK_NOT_FOUND') throw error;
  }
}

/** Undefined for a record that the disk does not let be read: the list of tasks says so to whoever asks for it. */
async function readableRecord(
  taskId: string,
  { stateDir, logger }: SweeperParts,
): Promise<RecordFile | undefined> {
  try {
    return await readRecordFile(stateDir, taskId);
  } catch (error) {
    if (!(error instanceof BridgeError) || error.code !== 'STATE_UNUSABLE') throw error;
    logger.debug('a record is not swept', { task: taskId, error: error.message });
    return undefined;
  }
}

/** Undefined for a folder that was removed meanwhile. */
async function changedAt(taskId: string, stateDir: StateDir): Promise<number | undefined> {
  try {
    return (await stat(stateDir.taskDir(taskId))).mtimeMs;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function sweepSockets({ runtimeDir, clock }: SweeperParts, swept: Swept): Promise<void> {
  for (const name of await readdir(runtimeDir.path)) {
    if (!name.endsWith(SOCKET_SUFFIX)) continue;
    const path = join(runtimeDir.path, name);
    try {
      const facts = await stat(path);
      if (!facts.isSocket() || clock.now() - facts.mtimeMs < STALE_SOCKET_MS) continue;
      if (await isListenedOn(path)) continue;
      await rm(path, { force: true });
      swept.sockets.push(path);
    } catch (error) {
      // Removed meanwhile, by its keeper or by another server.
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    }
  }
}

/** False only when the system reports that there is no listener. */
async function isListenedOn(path: string): Promise<boolean> {
  const socket = await openSocket(path, (why) => new Error(why)).catch(() => 'unknown' as const);
  if (socket === undefined || socket === 'unknown') return socket === 'unknown';
  socket.destroy();
  return true;
}
