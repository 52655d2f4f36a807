import { readdirSync } from 'node:fs';
import { systemCodeOf } from '../../base/errors.js';
import { KernelFiles } from '../../base/kernel-files.js';

/** An engine names the control group of a container by its whole id: `/docker/<id>`, `docker-<id>.scope`. */
const CONTAINER_ID = /[0-9a-f]{64}/g;

/**
 * SIGKILL to the processes of containers, by this machine's own kernel, before it returns. The ids of those that got it: none of
 * an engine on another machine, and none of a user who may not signal them. An engine starts a program for each signal, and one
 * for each end; with fifty containers on a busy machine the first of them dies after seconds.
 */
export function killContainersHere(containerIds: ReadonlySet<string>): ReadonlySet<string> {
  const killed = new Set<string>();
  if (process.platform !== 'linux' || containerIds.size === 0) return killed;
  const files = new KernelFiles();
  const refused = new Set<string>();
  for (const name of readdirSync('/proc')) {
    const id = /^\d+$/.test(name) ? containerOf(files, name, containerIds) : undefined;
    if (id !== undefined) (sendKill(Number(name)) ? killed : refused).add(id);
  }
  for (const id of refused) killed.delete(id);
  return killed;
}

function containerOf(files: KernelFiles, pid: string, among: ReadonlySet<string>): string | undefined {
  try {
    return files
      .read(`/proc/${pid}/cgroup`)
      .match(CONTAINER_ID)
      ?.find((id) => among.has(id));
  } catch {
    // It ended since the look.
    return undefined;
  }
}

/** False when it may not be signalled; one that has ended is no fault. */
function sendKill(pid: number): boolean {
  try {
    process.kill(pid, 'SIGKILL');
    return true;
  } catch (thrown) {
    const code = systemCodeOf(thrown);
    if (code !== 'ESRCH' && code !== 'EPERM') throw thrown;
    return code === 'ESRCH';
  }
}
