import { exitStatusFromShell, type ExitStatus } from '../../pty/exit-status.js';

/** What is printed for the person when nobody can say how the program ended. */
export const LOST_WORDS = 'The Docker engine went away, and the container with it.';

/** How a program in a container of its own ended, from the engine's code; undefined when the engine went away before it could tell. */
export async function containerExitStatus(
  code: number | undefined,
  whyKilled: () => Promise<string | undefined>,
): Promise<ExitStatus> {
  if (code === undefined) return { exitCode: null, signal: null };
  const status = exitStatusFromShell(code);
  const why = status.signal === 'SIGKILL' ? await whyKilled() : undefined;
  return why === undefined ? status : { ...status, why };
}
