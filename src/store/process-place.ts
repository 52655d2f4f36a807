// Pure: which process is meant, and where it runs.
import { z } from 'zod';

/** Identifies a process beyond its pid, which may be reused and is unique only in its pid namespace. */
export const processIdentitySchema = z.object({
  pid: z.int().positive(),
  /** The `startId` of the process table; null if unknown. */
  start_time: z.string().nullable(),
  boot_id: z.string().nullable(),
  /** The id of the operating system's installation; null for a system without one. */
  machine_id: z.string().nullable().optional(),
  /** The namespaces in which pid and start time are valid (Linux); null if unknown. */
  namespace: z.string().nullable().optional(),
});

export type ProcessIdentity = Readonly<z.infer<typeof processIdentitySchema>>;

/**
 * Where a process runs relative to this one. `here`: its pid is valid here. `restarted`: it ran on this machine before the last boot.
 * `elsewhere`: in another pid namespace or on another machine, so its pid means nothing here.
 */
export type ProcessPlace = 'here' | 'restarted' | 'elsewhere';

/** Where the process runs relative to `own`. */
export function placeOf(identity: ProcessIdentity, own: ProcessIdentity): ProcessPlace {
  // Without a namespace there is only its pid to go by.
  if (identity.namespace === undefined || own.namespace === undefined) return 'here';
  const isSameMachine = identity.machine_id === own.machine_id;
  if (identity.boot_id !== own.boot_id) {
    const areKnown = identity.boot_id !== null && own.boot_id !== null && own.machine_id !== null;
    return areKnown && isSameMachine ? 'restarted' : 'elsewhere';
  }
  const isSameKernel = own.boot_id !== null || isSameMachine;
  return isSameKernel && identity.namespace === own.namespace ? 'here' : 'elsewhere';
}

/** True when all known facts are the same. */
export function isSameIdentity(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return (
    a.pid === b.pid &&
    a.start_time === b.start_time &&
    a.boot_id === b.boot_id &&
    (a.machine_id ?? null) === (b.machine_id ?? null) &&
    (a.namespace ?? null) === (b.namespace ?? null)
  );
}
