// Pure: how a container's process ended, from what the engine says of it.
import { z } from 'zod';
import { exitStatusFromShell, type ExitStatus } from '../../pty/exit-status.js';

/** What of an inspected container is read. */
export const containerStateSchema = z.object({
  Running: z.boolean(),
  OOMKilled: z.boolean().default(false),
  ExitCode: z.int(),
  Error: z.string().default(''),
});

export type ContainerState = z.infer<typeof containerStateSchema>;

/**
 * The end behind the state of a container that has ended. An engine reports a signal as 128 and its number, as a shell does. A program
 * may have chosen the same number: it is read as the signal.
 */
export function endOfState(state: ContainerState): ExitStatus {
  const end = exitStatusFromShell(state.ExitCode);
  const outOfMemory = state.OOMKilled && end.signal === 'SIGKILL';
  const reasons = [
    ...(outOfMemory ? ['It used more memory than a container may (512 MB), and the kernel ended it.'] : []),
    ...(state.OOMKilled && !outOfMemory
      ? ['The kernel ended a process of it that used more memory than a container may (512 MB).']
      : []),
    ...(state.Error === '' ? [] : [`The engine says: ${state.Error}`]),
  ];
  return {
    ...end,
    outOfMemory,
    ...(reasons.length > 0 && { reason: reasons.join(' ') }),
  };
}
