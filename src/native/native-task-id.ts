// Pure.
import { createHash } from 'node:crypto';

const DIGITS = 20;

/** The id of a session in one process, the same for whoever sees it. `pid` is undefined for a session without a process. */
export function nativeTaskId(sessionId: string, pid: number | undefined): string {
  const hash = createHash('sha256').update(`${sessionId} ${pid ?? ''}`);
  return `task_${hash.digest('hex').slice(0, DIGITS)}`;
}
