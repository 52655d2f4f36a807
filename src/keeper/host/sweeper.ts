import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { BridgeError, ignoreMissing, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/logger.js';
import type { EndMarked } from '../../os/choose-processes.js';
import { machineOf } from '../../store/machine.js';
import { sweepPresence } from '../../store/owner-state.js';
import { SOCKET_SUFFIX, type RuntimeDir } from '../../store/runtime-dir.js';
import type { StateDir } from '../../store/state-dir.js';
import { isVerified } from '../../tasks/record/not-verified.js';
import { readRecordFile } from '../../tasks/record/record-file.js';
import { isFinal, type TaskRecord } from '../../tasks/task.js';
import { openSocket } from '../wire/link.js';

/** A keeper is ready or has failed within seconds; a task's folder that still has no record after this time never gets one. */
const STALE_FOLDER_MS = 10 * 60_000;
/** A keeper listens as soon as its socket exists; a socket of this age without a listener is stale. */
const STALE_SOCKET_MS = 60_000;

type Swept = Awaited<ReturnType<typeof sweep>>;

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

/**
 * Ends and removes what dead keepers left behind: unfinished tasks, processes that carry the mark of an ended task,
 * sockets without a listener. Only what provably has no owner is touched, so any number of servers may do this at once. Errors are
 * logged, and the sweep continues. The result has the ids of tasks whose end was written and of folders of tasks that never began, the
 * number of processes, and the paths of sockets.
 */
export async function sweep(parts: SweeperParts) {
  const { stateDir, logger } = parts;
  const swept = {
    ended: new Array<string>(),
    folders: new Array<string>(),
    processes: 0,
    sockets: new Array<string>(),
  };
  // Nothing there is ours to end or remove.
  if ((await machineOf(stateDir.path)) === 'other') return swept;
  const logged = (what: string, act: Promise<void>): Promise<void> =>
    act.catch((error: unknown) =>
      logger.warn('a part of the sweep failed', { what, error: messageOf(error) }),
    );
  const running = await parts.running();
  for (const taskId of await stateDir.listTaskIds())
    await logged(taskId, sweepTask(taskId, parts, running, swept));
  await logged('sockets', sweepSockets(parts, swept));
  await logged('presence', sweepPresence(stateDir.path));
  if (
    Object.values(swept)
      .flat()
      .some((one) => one !== 0)
  )
    logger.info('removed what dead keepers left behind', swept);
  return swept;
}

async function sweepTask(
  taskId: string,
  { stateDir, settle, endMarked, clock }: SweeperParts,
  { marks, commands }: Awaited<ReturnType<SweeperParts['running']>>,
  swept: Swept,
): Promise<void> {
  // One that the disk does not let be read is reported to whoever lists the tasks.
  const file = await readRecordFile(stateDir, taskId).catch(ignore('STATE_UNUSABLE'));
  if (file?.state === 'missing') {
    const changedMs = (await stat(stateDir.taskDir(taskId)).catch(ignoreMissing))?.mtimeMs ?? Infinity;
    // A task may be starting in it, also when the clock was set. A keeper has its task's id in its command line.
    const isStale = clock.now() - changedMs >= STALE_FOLDER_MS && !commands.includes(taskId);
    if (!isStale || (await stateDir.isStarting(taskId))) return;
    await stateDir.removeTaskDir(taskId);
    swept.folders.push(taskId);
  }
  if (file?.state !== 'ok') return;
  const { status, process_mark: mark, keeper } = file.record;
  if (isFinal(status)) {
    // Its checks run in a clean copy.
    if (marks.has(mark) && !(await isVerified(stateDir, taskId)))
      swept.processes += await endMarked(mark, keeper?.start_time ?? undefined);
    return;
  }
  // It may be pruned meanwhile.
  const settled = await settle(taskId).catch(ignore('TASK_NOT_FOUND'));
  if (settled !== undefined && isFinal(settled.status)) swept.ended.push(taskId);
}

async function sweepSockets({ runtimeDir, clock }: SweeperParts, swept: Swept): Promise<void> {
  for (const name of await readdir(runtimeDir.path)) {
    if (!name.endsWith(SOCKET_SUFFIX)) continue;
    const path = join(runtimeDir.path, name);
    // Removed meanwhile, by its keeper or by another server.
    const facts = await stat(path).catch(ignoreMissing);
    if (facts?.isSocket() !== true || clock.now() - facts.mtimeMs < STALE_SOCKET_MS) continue;
    // Only when the system reports that there is no listener.
    const socket = await openSocket(path, (why) => new Error(why)).catch(() => null);
    socket?.destroy();
    if (socket !== undefined) continue;
    await rm(path, { force: true });
    swept.sockets.push(path);
  }
}

function ignore(code: BridgeError['code']): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof BridgeError) || error.code !== code) throw error;
  };
}
