import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { messageOf } from '../../../src/base/errors.js';
import { taskRecordSchema, type TaskRecord } from '../../../src/tasks/task.js';
import { scriptedAgent, writeProgram } from '../../harness/scripted-agent.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

const POLL = { timeout: 20_000, interval: 50 };

/**
 * The first time it kills its keeper (its parent is the terminal's shell, the keeper that one's parent) with its first
 * command, and stays; so does a process in a session of its own. The next time it ends at once.
 */
const KILLS_ITS_KEEPER = `[ -e "$HOME/killed" ] && exit 0
trap '' HUP
: > "$HOME/killed"
set -- $(cat /proc/$PPID/stat)
setsid sleep 600 &
sleep "$DELAY"
kill -KILL "$4"
sleep 600`;

it.skipIf(process.platform !== 'linux').each([
  { when: 'with its first command', delay: '0' },
  { when: 'when it runs', delay: '2' },
])('a keeper killed by its agent $when leaves nothing, and its end is told', async ({ delay }) => {
  const workplace = await createWorkplace();
  const claude = await writeProgram(workplace, 'agent', `DELAY=${delay}\n${KILLS_ITS_KEEPER}`);
  const bridge = await startBridge({ claude, workplace });
  // Whether the server had heard by then that the agent runs decides which of the two it tells.
  expect(await endOfTask(bridge)).toMatch(
    /^TASK_START_FAILED: The keeper process of task_\S+ could not be started: it ended at once\.|^error: The process that kept this task ended without a word/,
  );
  await expect.poll(() => workplace.processes(), POLL).toEqual([bridge.mcp.pid]);
  const next = await bridge.start({ prompt: 'again', path: bridge.project });
  expect(await bridge.end(next)).toMatchObject({ status: 'completed' });
});

/** The refusal of `start_task`, or the status and reason of the task that it started. */
async function endOfTask(bridge: TestBridge): Promise<string> {
  let id: string;
  try {
    id = await bridge.start({ prompt: 'anything', path: bridge.project });
  } catch (error) {
    return messageOf(error);
  }
  const end = await bridge.end(id);
  return `${end.status}: ${end.reason}`;
}

it.each([
  {
    keeper: 'was halted',
    break: async ({ pid }: Keeper) => void process.kill(pid, 'SIGSTOP'),
  },
  {
    keeper: 'is out of reach',
    break: ({ socketPath }: Keeper) => rm(socketPath),
  },
])('kill_task: a keeper that $keeper is ended with its task', async ({ break: breakIt }) => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  const next = await bridge.start({ prompt: 'AGENT: exit', path: bridge.project, on_conflict: 'queue' });
  await expect.poll(async () => (await recordOf(bridge, id)).agent, POLL).toBeTruthy();
  const { keeper, socket_path: socketPath } = await recordOf(bridge, id);
  if (keeper === null) throw new Error('It has no keeper.');
  await breakIt({ pid: keeper.pid, socketPath });
  expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
  expect(await bridge.end(id)).toMatchObject({
    status: 'killed',
    reason: expect.stringContaining(
      'Terminated by kill_task. Its keeper did not answer and was ended, too.',
    ) as unknown,
  });
  expect(await bridge.end(next)).toMatchObject({ status: 'completed' });
  await expect.poll(() => bridge.workplace.processes(), POLL).toEqual([bridge.mcp.pid]);
});

it('a task whose record cannot be read is killed by its keeper, and ends as error when that is killed', async () => {
  const bridge = await startBridge({ claude: scriptedAgent });
  for (const isKilled of [true, false]) {
    const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
    await expect.poll(async () => (await recordOf(bridge, id)).agent, POLL).toBeTruthy();
    const { keeper } = await recordOf(bridge, id);
    if (keeper === null) throw new Error('It has no keeper.');
    const path = join(bridge.workplace.stateDir, 'tasks', id, 'record.json');
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, -100));
    if (isKilled) expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    else process.kill(keeper.pid, 'SIGKILL');
    expect(await bridge.end(id)).toMatchObject(
      isKilled
        ? { status: 'killed' }
        : { status: 'error', reason: expect.stringContaining('cannot be read') as unknown },
    );
  }
});

interface Keeper {
  readonly pid: number;
  readonly socketPath: string;
}

async function recordOf(bridge: TestBridge, taskId: string): Promise<TaskRecord> {
  const path = join(bridge.workplace.stateDir, 'tasks', taskId, 'record.json');
  return taskRecordSchema.parse(JSON.parse(await readFile(path, 'utf8')));
}
