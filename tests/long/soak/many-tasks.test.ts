import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { soakRounds } from '../../harness/seeded-random.js';

const TASKS = 500;
/** Until here everything is loaded and every cache is filled. */
const WARM_SHARE = 0.2;
/** What a collector may leave lying about. */
const MEMORY_SLACK_MB = 40;
const HISTORY = 20;

async function residentMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

const descriptors = async (pid: number): Promise<number> => (await readdir(`/proc/${pid}/fd`)).length;

it('five hundred tasks in a row leave the server’s memory, its descriptors and the disk as they were', async () => {
  const bridge = await startBridge({ claude: scriptedAgent, env: { MCP_TASK_HISTORY_SIZE: `${HISTORY}` } });
  const { pid } = bridge.mcp;
  const tasks = soakRounds(TASKS);
  let warm = { memory: 0, files: 0 };
  for (let count = 0; count < tasks; count++) {
    const id = await bridge.start({ prompt: 'AGENT: exit 0' });
    expect((await bridge.end(id)).status).toBe('completed');
    if (count === Math.floor(tasks * WARM_SHARE))
      warm = { memory: await residentMegabytes(pid), files: await descriptors(pid) };
  }
  const memory = await residentMegabytes(pid);
  const files = await descriptors(pid);
  const kept = (await readdir(join(bridge.workplace.stateDir, 'tasks'))).length;
  process.stdout.write(
    `${tasks} tasks: ${warm.memory.toFixed(0)} → ${memory.toFixed(0)} MB, ${warm.files} → ${files} descriptors, ${kept} kept\n`,
  );
  expect(memory).toBeLessThan(warm.memory + MEMORY_SLACK_MB);
  expect(files).toBeLessThanOrEqual(warm.files + 2);
  expect(kept).toBeLessThanOrEqual(HISTORY + 2);
});
