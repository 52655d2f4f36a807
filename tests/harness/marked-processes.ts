import { readdir, readFile } from 'node:fs/promises';

/** The pids of all processes whose environment holds `mark`; Linux only, by /proc. */
export async function markedProcesses(mark: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      // Gone by now, or another user's.
      const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
      return environment.includes(mark) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** The command line of a process, in one line; empty when it has ended. Linux only, by /proc. */
export async function commandOf(pid: number): Promise<string> {
  const words = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return words.replaceAll('\0', ' ').trim();
}

/** Ends every process that carries the mark; resolves when none is left. */
export async function killMarked(mark: string): Promise<void> {
  for (let pids = await markedProcesses(mark); pids.length > 0; pids = await markedProcesses(mark)) {
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended between the look and the signal.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
