import { expect, it } from 'vitest';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';
import { soakRounds } from '../../harness/seeded-random.js';

const STARTS = 100;
const PROJECTS = 20;

it('a hundred starts at once over twenty projects give a hundred true answers', async () => {
  const bridge = await startBridge({
    claude: scriptedAgent,
    projects: Array.from({ length: PROJECTS }, (_, index) => `app-${index}`),
    env: { MCP_TASK_HISTORY_SIZE: `${STARTS}` },
  });
  const starts = soakRounds(STARTS);
  const ids = await Promise.all(
    Array.from({ length: starts }, (_, index) =>
      bridge.start({
        prompt: 'AGENT: exit 0',
        path: bridge.projects[index % PROJECTS] ?? '',
        on_conflict: 'queue',
      }),
    ),
  );
  expect(new Set(ids).size).toBe(starts);
  for (const id of ids) {
    expect(await bridge.end(id)).toMatchObject({ status: 'completed', exit_code: 0 });
  }
  process.stdout.write(`${starts} starts over ${PROJECTS} projects, each with its end\n`);
});
