import { appendFile } from 'node:fs/promises';
import { z } from 'zod';
import { BridgeError } from '../../src/base/errors.js';
import { systemClock } from '../../src/base/system-clock.js';
import { Requests } from '../../src/store/requests.js';

// A program of its own, started by requests.test.ts: adds a line to a file once for a request, and dies where it is told to.

const orderSchema = z.object({
  state: z.string(),
  id: z.string(),
  file: z.string(),
  dies: z.enum(['noted', 'done']).optional(),
});

async function obey(message: unknown): Promise<void> {
  const { state, id, file, dies } = orderSchema.parse(message);
  const { once } = new Requests(state, systemClock);
  const shapes = { outcome: z.string(), note: z.string() };
  const outcome = await once(id, { do: 'append', file }, shapes, async (note, noted) => {
    if (noted !== undefined) throw new BridgeError('OUTCOME_UNKNOWN', `It was noted: ${noted}.`, '');
    await note(`by ${process.pid}`);
    if (dies === 'noted') process.kill(process.pid, 'SIGKILL');
    await appendFile(file, `${process.pid}\n`);
    if (dies === 'done') process.kill(process.pid, 'SIGKILL');
    return `done by ${process.pid}`;
  }).catch((error: unknown) => String(error));
  process.send?.({ outcome });
}

process.on('message', (message) => void obey(message));
process.send?.('ready');
