import { readdirSync, readFileSync } from 'node:fs';

/** Seconds that the sleepers of a measurement sleep: nobody else's do. */
export const SLEEP_SECONDS = '601';

/** Pids of the sleepers that live, in containers of this machine, too. */
export function sleepers(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\x00${SLEEP_SECONDS}\x00`;
    } catch {
      // It ended between two looks.
      return false;
    }
  });
}
