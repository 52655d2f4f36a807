import { randomUUID } from 'node:crypto';
import { unlinkSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { messageOf, systemCodeOf } from '../../base/errors.js';
import { toDisposable, type Disposable } from '../../base/lifecycle.js';
import type { Logger } from '../../base/logger.js';
import { linkedProcess, linkToSelf } from '../../store/owner-state.js';

/** A task ends at most this long after the grace time. */
const CHECK_MS = 2_000;

export interface ServersThereOptions {
  readonly statePath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long the task goes on without a server. */
  readonly graceSeconds: number;
  /** Called once, with the reason for which the task ends. */
  readonly onAlone: (reason: string) => void;
}

/** Says that this process is a server, by a link in the state directory, until the result is disposed or the process has ended. */
export async function announceServer(statePath: string): Promise<Disposable> {
  const folder = join(statePath, 'servers');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, randomUUID());
  await linkToSelf(path, statePath);
  return toDisposable(() => {
    try {
      unlinkSync(path);
    } catch (error) {
      // The folder is gone, or a task has removed it.
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    }
  });
}

/** For a task that ends without a server (`on_disconnect: "stop"`): watches until no server was there for the grace time. */
export function watchServers(options: ServersThereOptions): Disposable {
  const { statePath, clock, logger, graceSeconds, onAlone } = options;
  // The server that starts the task may die before the task runs.
  let seenMs = clock.monotonicMs();
  let timer: Disposable | undefined;
  let isDisposed = false;
  const look = async (): Promise<void> => {
    // A disk that fails says nothing of servers.
    const isThere = await isServerThere(join(statePath, 'servers'), statePath).catch((error: unknown) => {
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
async function isServerThere(folder: string, statePath: string): Promise<boolean> {
  let isThere = false;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if ((await linkedProcess(path, statePath)).state === 'gone') await rm(path, { force: true });
    else isThere = true;
  }
  return isThere;
}
