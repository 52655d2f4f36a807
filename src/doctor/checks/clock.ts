import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCodeOf } from '../../base/errors.js';
import { ok, type Check } from '../check.js';
import { systemCommands } from '../system-commands.js';

/** File systems of other machines and rounded times may be ahead by some seconds. */
const LEEWAY_MS = 2 * 60_000;

/** A file that was written in the future shows that the clock was set back, or was wrong before. */
export const clock: Check = {
  id: 'clock',
  category: 'system',
  look: async (context) => {
    const state = await context.statePath();
    const { source } = await context.settings();
    const files = [context.serverEntry, join(state, 'tasks'), join(state, 'locks'), source ?? state];
    const times = await Promise.all(files.map(async (path) => ({ path, changedMs: await changedMs(path) })));
    const now = context.nowMs();
    const ahead = times.filter(({ changedMs }) => changedMs > now + LEEWAY_MS);
    const [first] = ahead;
    if (first === undefined) return ok(`The clock says ${new Date(now).toISOString()}`);
    return {
      status: 'warning',
      summary: `The clock says ${new Date(now).toISOString()}, but files were changed after that: logins and deadlines go wrong with a wrong clock`,
      details: ahead.map(({ path, changedMs }) => `${path}: ${new Date(changedMs).toISOString()}`),
      remedy: {
        words:
          'Let the system set its clock. If the clock is right now, the files are from a time when it was not.',
        command: systemCommands(context.platform).setClock,
      },
    };
  },
};

async function changedMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (systemCodeOf(error) === undefined) throw error;
    return 0;
  }
}
