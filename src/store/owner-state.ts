import { machineOf } from './machine.js';
import { presenceOf, signOf } from './presence.js';
import { ownIdentity, processState, type ProcessState } from './process-identity.js';
import { placeOf, type ProcessIdentity } from './process-place.js';

/**
 * Whether the owner of something in the state directory still runs. One that runs here is checked by its pid. One in another pid
 * namespace of this machine is checked by its socket (`announce`). One on another machine is `unknown`, unless the state directory
 * was that machine's before and is this one's now.
 */
export async function ownerState(owner: ProcessIdentity, statePath: string): Promise<ProcessState> {
  const own = await ownIdentity();
  const place = placeOf(owner, own);
  if (place === 'here') return processState(owner);
  const presence = await presenceOf(signOf(owner), statePath);
  // A copy of a machine has the same id, so what ran before a restart of this one may run on that one.
  if (presence === 'accepts') return 'unknown';
  if (place === 'restarted') return 'gone';
  // Without a known namespace it could not announce itself.
  if (presence !== 'gone' || owner.namespace == null) return 'unknown';
  const machine = await machineOf(statePath);
  const isSameKernel = owner.boot_id !== null && owner.boot_id === own.boot_id;
  return machine === 'own' || (machine === 'unclaimed' && isSameKernel) ? 'gone' : 'unknown';
}
