import type { Place } from './place.js';

/** Removes the entries of all clients, and then types the line that this ended with: it removes settings and records. */
export async function removeRest(place: Place, command: string): Promise<void> {
  const said = await place.type(`${command} init --remove`);
  const line = said.split('\n').find((one) => one.startsWith('rm -r '));
  if (line !== undefined) await place.type(line);
}
