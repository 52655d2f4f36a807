import type { Duplex } from 'node:stream';
import { withinMs, type Clock } from '../../../base/clock.js';
import { exitStatusFromShell, type ExitStatus } from '../../../pty/exit-status.js';

/** What is printed for the person when nobody can say how the program ended. */
export const LOST_WORDS = 'The Docker engine went away, and the container with it.';

/** The engine closes the stream when all has been sent and tells the end of the container beside it, in either order. */
const OTHER_END_LIMIT_MS = 10_000;

/** The first program of a container, attached to. */
export interface Attached {
  /** Both ways of it, not yet read from. */
  readonly stream: Duplex;
  /** The exit code once the container is gone; undefined when the engine went away before it could tell. Never rejects. */
  readonly gone: Promise<number | undefined>;
  /** Why SIGKILL ended the program, where that is known. Never rejects. */
  readonly whyKilled: () => Promise<string | undefined>;
  readonly clock: Clock;
}

/**
 * The exit code when all that the program printed has been read; undefined when the engine went away before it could tell.
 * `onEnding` is called when one of the two has come.
 */
export async function codeBehindOutput(
  { stream, gone, clock }: Attached,
  onEnding: () => void = () => undefined,
): Promise<number | undefined> {
  const read = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error'] as const) stream.on(event, () => resolve());
  });
  await Promise.race([read, gone]);
  onEnding();
  const [code] = await Promise.all([
    withinMs(clock, OTHER_END_LIMIT_MS, gone),
    withinMs(clock, OTHER_END_LIMIT_MS, read),
  ]);
  return code;
}

/** How the program ended, from such a code. */
export async function attachedExit(
  code: number | undefined,
  { whyKilled }: Pick<Attached, 'whyKilled'>,
): Promise<ExitStatus> {
  if (code === undefined) return { exitCode: null, signal: null };
  const status = exitStatusFromShell(code);
  const why = status.signal === 'SIGKILL' ? await whyKilled() : undefined;
  return why === undefined ? status : { ...status, why };
}
