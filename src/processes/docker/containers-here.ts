import { KernelFiles } from '../../base/files/kernel-files.js';
import type { Pid } from '../../os/pid.js';
import { thisMachine } from '../../os/process-system.js';
import { signalProcesses } from '../../os/send-signals.js';

/** An engine names the control group of a container by its whole id: `/docker/<id>`, `docker-<id>.scope`. */
const CONTAINER_ID = /[0-9a-f]{64}/g;

/**
 * SIGKILL to the processes of containers, by this machine's own kernel. The ids of those that got it: none of an engine on
 * another machine, and none of a user who may not signal them. An engine starts a program for each signal, and one for each
 * end; with fifty containers on a busy machine the first of them dies after seconds.
 */
export async function killContainersHere(containerIds: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const { source } = thisMachine;
  if (source.kind !== 'proc' || containerIds.size === 0) return new Set();
  const files = new KernelFiles();
  const found = (await source.table()).flatMap((one) => {
    const id = containerOf(files, one.pid, containerIds);
    return id === undefined ? [] : [{ ...one, id }];
  });
  const results = await signalProcesses(found, ['SIGKILL']);
  const isKilled = (id: string): boolean =>
    found.every((one, at) => one.id !== id || results[at] === 'sent' || results[at] === 'gone');
  return new Set(found.map(({ id }) => id).filter(isKilled));
}

function containerOf(files: KernelFiles, pid: Pid, among: ReadonlySet<string>): string | undefined {
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
