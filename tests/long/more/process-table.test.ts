import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { usesPs } from '../../harness/process-table.js';
import { program, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

const CLEANS_UP = fileURLToPath(new URL('../../fixtures/programs/cleans-up.cjs', import.meta.url));

/** How the table of this run tells a start: ticks since boot, or the date and time of `ps`. */
const startPattern = usesPs() || process.platform !== 'linux' ? /^\w{3} \w{3} \d+ [\d:]{8} \d{4}$/ : /^\d+$/;

it('server and keeper read the process table that was chosen', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits' });
  await expect.poll(async () => (await bridge.record(taskId)).agent?.start_time).toMatch(startPattern);
  expect((await bridge.record(taskId)).keeper?.start_time).toMatch(startPattern);
  await bridge.call('kill_task', { task_id: taskId });
});

it.each([
  { who: 'an agent that cleans up by running children', start: (command: string) => `exec ${command}` },
  // As Claude Code starts its commands: with the terminal, its programs would get SIGHUP from the kernel.
  {
    who: 'a child in a session of its own, whose agent has left at once,',
    start: (command: string) => `setsid ${command} &\nwait`,
  },
])('$who has the grace time to clean up when its task is killed', async ({ start }) => {
  const cleans = `'${process.execPath}' '${CLEANS_UP}' "$HOME/cleaned-up" 0.6`;
  const bridge = await startBridge({ claude: program('agent', start(cleans)) });
  const done = join(bridge.workplace.homeDir, 'cleaned-up');
  const taskId = await bridge.start({ prompt: 'anything' });
  await bridge.until(taskId, ({ last_output }) => last_output.includes('ready'));
  await bridge.call('kill_task', { task_id: taskId });
  expect(await bridge.end(taskId)).toMatchObject({ status: 'killed' });
  expect((await readFile(done, 'utf8')).split('\n')).toEqual(['child 1', 'child 2', 'child 3', '']);
});
