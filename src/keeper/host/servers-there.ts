import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { linkedProcess, linkToSelf } from '../../store/owner-state.js';

/** A task ends at most this long after the grace time. */
const CHECK_MS = 2_000;

/** Says that this process is a server, by a link in the state directory, until the result is disposed or the process has ended. */
export async function announceServer(statePath: string): Promise<Disposable> {
  const path = join(await folderIn(statePath), randomUUID());
  await linkToSelf(path, statePath);
  // A task may have removed it.
  return toDisposable(() => rmSync(path, { force: true }));
}

/**
 * For a task that ends without a server (`on_disconnect: "stop"`): watches until no server was there for the grace time, and then calls
 * `onAlone` once, with the reason for which the task ends.
 */
export function watchServers(options: {
  readonly statePath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly graceSeconds: number;
  readonly onAlone: (reason: string) => void;
}): Disposable {
  const { statePath, clock, logger, graceSeconds, onAlone } = options;
  // The server that starts the task may die before the task runs.
  let seenMs = clock.monotonicMs();
  let timer: Disposable | undefined;
  let isDisposed = false;
  const look = async (): Promise<void> => {
    // A disk that fails says nothing of servers.
    const isThere = await isServerThere(statePath).catch((error: unknown) => {
      logger.warn('the servers of this task cannot be seen', { error: messageOf(error) });
      return true;
    });
    if (isDisposed) return;
    if (isThere) seenMs = clock.monotonicMs();
    if (clock.monotonicMs() - seenMs < graceSeconds * 1_000) timer = clock.after(CHECK_MS, () => void look());
    else
      onAlone(
        `Its last server had gone, and none came back within ${graceSeconds} seconds (on_disconnect is "stop").`,
      );
  };
  void look();
  return toDisposable(() => {
    isDisposed = true;
    timer?.dispose();
  });
}

/** Removes the links of those that are gone. */
async function isServerThere(statePath: string): Promise<boolean> {
  const folder = await folderIn(statePath);
  let isThere = false;
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await linkedProcess(path, statePath)).state === 'gone') await rm(path, { force: true });
    else isThere = true;
  }
  return isThere;
}

async function folderIn(statePath: string): Promise<string> {
  const folder = join(statePath, 'servers');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}
