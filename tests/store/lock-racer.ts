import { z } from 'zod';
import { systemClock } from '../../src/base/system-clock.js';
import { ownIdentity } from '../../src/store/process-identity.js';
import { ProjectLocks, type Lock } from '../../src/store/project-lock.js';

// A program of its own, started by project-lock.test.ts: takes and releases locks as it is told.

const orderSchema = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('acquire'),
    tries: z.array(z.object({ project: z.string(), task: z.string() })),
  }),
  z.object({ do: z.literal('release') }),
]);

const locks = new ProjectLocks(process.argv[2] ?? '', systemClock, () => undefined);
const held: Lock[] = [];

async function obey(message: unknown): Promise<void> {
  const order = orderSchema.parse(message);
  if (order.do === 'release') {
    const released = await Promise.all(held.splice(0).map((lock) => lock.release()));
    process.send?.({ released });
    return;
  }
  const owner = await ownIdentity();
  const answers = await Promise.all(
    order.tries.map(({ project, task }) => locks.acquire({ projectPath: project, taskId: task, owner })),
  );
  const won = answers.flatMap((answer) => ('held' in answer ? [answer.held] : []));
  held.push(...won);
  process.send?.({ won: won.map((lock) => lock.holder.task_id) });
}

process.on('message', (message) => void obey(message));
process.send?.('ready');
