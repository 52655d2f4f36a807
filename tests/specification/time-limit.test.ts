// The specification of the delegation server, "Task Lifecycle Management". In a file of its own: it takes the shortest limit
// that a task may have, beside the other files.
import { expect, test } from 'vitest';
import { scriptedAgent } from '../harness/scripted-agent.js';
import { startBridge } from '../harness/start-bridge.js';

const SHORTEST_LIMIT_SECONDS = 60;
const TEST_LIMIT_MS = 120_000;
const POLL_INTERVAL_MS = 2_000;

test(
  'a task that exceeds its time limit is terminated, says so, and its project is free',
  async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const path = bridge.project;
    const limit = { timeout_seconds: SHORTEST_LIMIT_SECONDS };
    const id = await bridge.start({ path, prompt: 'AGENT: never-exits', ...limit });
    await expect
      .poll(() => bridge.status(id), { timeout: TEST_LIMIT_MS, interval: POLL_INTERVAL_MS })
      .toMatchObject({ status: 'timeout' });
    const { hint, elapsed_seconds } = await bridge.status(id);
    expect(hint).toMatch(/^Task exceeded the timeout limit and was terminated\./);
    expect(elapsed_seconds).toBeGreaterThanOrEqual(SHORTEST_LIMIT_SECONDS);
    const next = await bridge.start({ path, prompt: 'AGENT: exit 0' });
    expect(await bridge.end(next)).toMatchObject({ status: 'completed' });
  },
  TEST_LIMIT_MS,
);
