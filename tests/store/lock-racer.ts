import { readFile, writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { systemClock } from '../../src/base/system-clock.js';
import { ProjectLocks, type Lock } from '../../src/store/project-lock.js';

// A program of its own, started by project-lock.test.ts: does with locks what its input says.

const orderSchema = z.discriminatedUnion('do', [
  z.object({
    do: z.literal('acquire'),
    tries: z.array(z.object({ project: z.string(), task: z.string() })),
  }),
  z.object({ do: z.literal('release') }),
  z.object({ do: z.literal('count'), file: z.string(), times: z.number() }),
]);

const locks = new ProjectLocks(process.argv[2] ?? '', systemClock, () => undefined);
const held: Lock[] = [];

async function obey(message: unknown): Promise<void> {
  const order = orderSchema.parse(message);
  if (order.do === 'release') {
    for (const lock of held.splice(0)) lock.release();
    process.send?.('released');
    return;
  }
  if (order.do === 'count') {
    for (let time = 0; time < order.times; time++) {
      await locks.exclusively(async () => {
        const count = Number(await readFile(order.file, 'utf8'));
        await writeFile(order.file, String(count + 1));
      });
    }
    process.send?.('counted');
    return;
  }
  const answers = await Promise.all(
    order.tries.map(({ project, task }) => locks.acquire({ projectPath: project, taskId: task })),
  );
  const won = answers.flatMap((answer) => ('held' in answer ? [answer.held] : []));
  held.push(...won);
  process.send?.({ won: won.map((lock) => lock.holder.task_id) });
}

process.on('message', (message) => void obey(message));
process.send?.('ready');
