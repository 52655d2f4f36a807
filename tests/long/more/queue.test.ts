import { existsSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { realPid } from '../../harness/real-pid.js';
import { quickAgent } from '../../harness/scripted-agent.js';
import { startBridge, type BridgeOptions, type TestBridge } from '../../harness/start-bridge.js';
import type { TaskClient } from '../../harness/task-client.js';

const startedSchema = z.looseObject({
  task_id: z.string(),
  status: z.string(),
  queue_position: z.number().optional(),
  message: z.string(),
});

const quickBridge = (options: Partial<BridgeOptions> = {}) => startBridge({ claude: quickAgent, ...options });

async function start(
  client: TaskClient,
  path: string,
  behaviour: string,
  more: Record<string, unknown> = {},
): Promise<z.infer<typeof startedSchema>> {
  return startedSchema.parse(
    await client.call('start_task', { prompt: `AGENT: ${behaviour}`, path, on_conflict: 'queue', ...more }),
  );
}

/** Nothing waits, and nothing holds a project. A process that was killed while it wrote a lock leaves `*.tmp`, which the next holder removes after a minute. */
async function nothingLeft(bridge: TestBridge): Promise<void> {
  await expect
    .poll(
      async () =>
        [
          await readdir(join(bridge.workplace.stateDir, 'queue')).catch(() => []),
          await readdir(join(bridge.workplace.stateDir, 'locks')),
        ]
          .flat()
          .filter((name) => !name.endsWith('.tmp')),
      { timeout: 20_000 },
    )
    .toEqual([]);
}

it('the queue goes on while no server runs', async () => {
  const bridge = await quickBridge();
  const first = await start(bridge, bridge.project, 'never-exits');
  const ids: string[] = [];
  for (const behaviour of ['exit 0', 'exit 3'])
    ids.push((await start(bridge, bridge.project, behaviour)).task_id);
  await bridge.mcp.close();
  // The end of the first comes from its keeper alone.
  process.kill(realPid((await bridge.record(first.task_id)).keeper?.pid), 'SIGTERM');
  const statusOf = async (id: string): Promise<string> => (await bridge.record(id)).status;
  await expect
    .poll(() => Promise.all(ids.map(statusOf)), { timeout: 30_000 })
    .toEqual(['completed', 'failed']);
  await nothingLeft(bridge);
});

it('above the limit every task waits, whatever it said of conflicts; a project that is gone by then is told', async () => {
  const bridge = await quickBridge({ projects: ['one', 'two'], env: { MCP_MAX_CONCURRENT_TASKS: '1' } });
  const [one = '', two = ''] = bridge.projects;
  const first = await start(bridge, one, 'never-exits');
  const second = await start(bridge, two, 'exit 0', { on_conflict: 'error' });
  expect(second).toMatchObject({ status: 'pending', queue_position: 1 });
  expect(second.message).toContain('as many tasks run as max_concurrent_tasks allows (1)');
  expect(await bridge.refusal('message_task', { task_id: second.task_id, text: 'Go on.' })).toContain(
    'pending',
  );
  await rename(two, `${two}-gone`);
  await bridge.call('kill_task', { task_id: first.task_id });
  const end = await bridge.end(second.task_id);
  expect(end).toMatchObject({ status: 'error' });
  expect(end.reason).toContain(`Path '${two}' does not exist`);
  expect(existsSync(two)).toBe(false);
  await nothingLeft(bridge);
});
