import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
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

/** What a process that was killed has left of a lock, which the next holder removes after a minute only. */
async function removeHalfWrittenLocks({ workplace }: TestBridge): Promise<void> {
  const locks = join(workplace.stateDir, 'locks');
  for (const name of await readdir(locks)) if (name.endsWith('.tmp')) await rm(join(locks, name));
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

it('a queue whose keeper was killed goes on with the next server, before that is asked for anything', async () => {
  const bridge = await quickBridge();
  const first = await start(bridge, bridge.project, 'never-exits');
  const second = await start(bridge, bridge.project, 'exit 0');
  process.kill(bridge.mcp.pid, 'SIGKILL');
  await bridge.killKeeper(first.task_id);
  const other = await bridge.another();
  await expect
    .poll(async () => (await bridge.record(second.task_id)).status, { timeout: 30_000 })
    .toBe('completed');
  await nothingLeft(bridge);
  await removeHalfWrittenLocks(bridge);
  expect(await other.status(first.task_id)).toMatchObject({ status: 'error' });
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

it('a burst of starts over two servers gives every caller a true answer, and every task its end', async () => {
  const tasks = 12;
  const projects = Array.from({ length: 4 }, (_, index) => `app-${index}`);
  const bridge = await quickBridge({
    projects,
    env: { MCP_MAX_CONCURRENT_TASKS: '3', MCP_TASK_HISTORY_SIZE: '100' },
  });
  const other = await bridge.another();
  const answers = await Promise.all(
    Array.from({ length: tasks }, async (_, index) => {
      const path = bridge.projects[index % projects.length] ?? '';
      const client = index % 2 === 0 ? bridge : other;
      const on_conflict = index % 4 === 3 ? 'error' : 'queue';
      return start(client, path, 'exit 0', { on_conflict }).catch((error: unknown) => String(error));
    }),
  );
  const refused = answers.filter((answer) => typeof answer === 'string');
  const accepted = answers.filter((answer) => typeof answer !== 'string');
  for (const words of refused) expect(words).toMatch(/TASK_ALREADY_RUNNING.*Existing task ID: task_/s);
  for (const { status, queue_position } of accepted) {
    if (status === 'pending') expect(queue_position).toBeGreaterThan(0);
    else expect(status).toMatch(/^(running|completed)$/);
  }
  for (const { task_id } of accepted) {
    expect(await bridge.end(task_id)).toMatchObject({ status: 'completed', exit_code: 0 });
  }
  await nothingLeft(bridge);
  const listed = z
    .object({ tasks: z.array(z.looseObject({ task_id: z.string() })) })
    .parse(await other.call('list_tasks', { limit: 100 }));
  expect(listed.tasks.map(({ task_id }) => task_id).sort()).toEqual(
    accepted.map(({ task_id }) => task_id).sort(),
  );
});
