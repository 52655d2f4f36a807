import type { PtySession } from './pty-session.js';

/** Reads no more of the terminal until `wait` settles: then the program stops at a full terminal. Without one nothing happens. */
export function pauseUntil(
  session: Pick<PtySession, 'pause' | 'resume'>,
  wait: Promise<void> | undefined,
): void {
  if (wait === undefined) return;
  session.pause();
  const goOn = (): void => session.resume();
  wait.then(goOn, goOn);
}
