import { appendFileSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { systemClock } from '../../src/base/system-clock.js';
import { silentLogger } from '../../src/base/logger.js';
import { openStateDir } from '../../src/store/state-dir.js';
import { recoverTask } from '../../src/tasks/record/recovery.js';
import { taskRecordSchema } from '../../src/tasks/task.js';

// A program of its own, started by recovery-races.test.ts: gives a task its end when it is told to, as `killed` or as `error`; the first `deaths` that do so are killed.

const orderSchema = z.object({
  record: taskRecordSchema,
  isKill: z.boolean(),
  trace: z.string(),
  deaths: z.int(),
});

const stateDir = await openStateDir({ path: process.argv[2] ?? '' });

async function obey(message: unknown): Promise<void> {
  const { record, isKill, trace, deaths } = orderSchema.parse(message);
  const recovered = await recoverTask(
    record,
    {
      stateDir,
      clock: systemClock,
      logger: silentLogger,
      endMarked: async () => {
        appendFileSync(trace, `${process.pid}\n`);
        const came = readFileSync(trace, 'utf8').split('\n').length - 1;
        if (came <= deaths) process.kill(process.pid, 'SIGKILL');
        return 0;
      },
    },
    {
      ending: isKill
        ? { status: 'killed', reason: `Killed by ${process.pid}.` }
        : { status: 'error', reason: `Found by ${process.pid}.` },
    },
  );
  process.send?.({ recovered });
}

process.on('message', (message) => void obey(message));
process.send?.({ ready: true });
