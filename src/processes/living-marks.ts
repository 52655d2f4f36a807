import { sleep, type Clock } from '../base/clock.js';
import { processSource } from '../os/process-source.js';

/** Between two scans: an exec, in which a process shows no environment, takes a small part of this. */
const SURE_SCAN_MS = 3;

/** The marks that processes of this machine carry. Rejects where the system does not list them. */
export async function livingMarks(clock: Clock): Promise<ReadonlySet<string>> {
  const first = await processSource.markedTable();
  await sleep(clock, SURE_SCAN_MS);
  return new Set([...first, ...(await processSource.markedTable())].flatMap(({ mark }) => mark ?? []));
}
