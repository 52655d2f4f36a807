import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { taskRecordSchema, type TaskRecord } from '../../../src/tasks/task.js';
import { usesPs } from '../../harness/process-table.js';
import { scriptedAgent, writeProgram } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

const CLEANS_UP = fileURLToPath(new URL('../../fixtures/programs/cleans-up.cjs', import.meta.url));

/** How the table of this run tells a start: ticks since boot, or the date and time of `ps`. */
const startPattern = usesPs() || process.platform !== 'linux' ? /^\w{3} \w{3} \d+ [\d:]{8} \d{4}$/ : /^\d+$/;

async function recordOf(bridge: TestBridge, taskId: string): Promise<TaskRecord> {
  const file = join(bridge.workplace.stateDir, 'tasks', taskId, 'record.json');
  return taskRecordSchema.parse(JSON.parse(await readFile(file, 'utf8')));
}

it('server and keeper read the process table that was chosen', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const taskId = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  await expect.poll(async () => (await recordOf(bridge, taskId)).agent?.start_time).toMatch(startPattern);
  expect((await recordOf(bridge, taskId)).keeper?.start_time).toMatch(startPattern);
  await bridge.call('kill_task', { task_id: taskId });
});

it.each([
  { who: 'an agent that cleans up by running children', start: (program: string) => `exec ${program}` },
  // As Claude Code starts its commands: with the terminal, its programs would get SIGHUP from the kernel.
  {
    who: 'a child in a session of its own, whose agent has left at once,',
    start: (program: string) => `setsid ${program} &\nwait`,
  },
])('$who has the grace time to clean up when its task is killed', async ({ start }) => {
  const workplace = await createWorkplace();
  const done = join(workplace.root, 'cleaned-up');
  const program = `'${process.execPath}' '${CLEANS_UP}' '${done}' 0.6`;
  const claude = await writeProgram(workplace, 'agent', start(program));
  const bridge = await startBridge({ claude, workplace });
  const taskId = await bridge.start({ prompt: 'anything', path: bridge.project });
  await bridge.until(taskId, ({ last_output }) => last_output.includes('ready'));
  await bridge.call('kill_task', { task_id: taskId });
  expect(await bridge.end(taskId)).toMatchObject({ status: 'killed' });
  expect((await readFile(done, 'utf8')).split('\n')).toEqual(['child 1', 'child 2', 'child 3', '']);
});
