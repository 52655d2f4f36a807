import { createHash } from 'node:crypto';
import { hostname } from 'node:os';

/**
 * Whose the containers of this machine and state directory are: two machines may share an engine, and neither may end what it
 * takes for a dead server's.
 */
export function containerOwnerId(statePath: string): string {
  return createHash('sha256').update(`${hostname()}\0${statePath}`).digest('hex');
}
