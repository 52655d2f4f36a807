import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { messageOf } from '../../../src/base/errors.js';
import { realPid } from '../../harness/real-pid.js';
import { program, scriptedAgent } from '../../harness/scripted-agent.js';
import { startBridge } from '../../harness/start-bridge.js';

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
  const bridge = await startBridge({ claude: program('agent', `DELAY=${delay}\n${KILLS_ITS_KEEPER}`) });
  // Whether the server had heard by then that the agent runs decides which of the two it tells.
  const told = await bridge
    .start({ prompt: 'anything' })
    .then(async (id) => `${(await bridge.end(id)).status}: ${(await bridge.status(id)).reason}`, messageOf);
  expect(told).toMatch(
    /^TASK_START_FAILED: The keeper process of task_\S+ could not be started: it ended at once\.|^error: The process that kept this task ended without a word/,
  );
  await expect.poll(() => bridge.workplace.processes(), POLL).toEqual([bridge.mcp.pid]);
  const next = await bridge.start({ prompt: 'again', path: bridge.project });
  expect(await bridge.end(next)).toMatchObject({ status: 'completed' });
});

it.each([
  {
    keeper: 'was halted',
    break: async (pid: number) => void process.kill(pid, 'SIGSTOP'),
  },
  {
    keeper: 'is out of reach',
    break: (_pid: number, socketPath: string) => rm(socketPath),
  },
])('kill_task: a keeper that $keeper is ended with its task', async ({ break: breakIt }) => {
  const bridge = await startBridge({ claude: scriptedAgent });
  const id = await bridge.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  const next = await bridge.start({ prompt: 'AGENT: exit', path: bridge.project, on_conflict: 'queue' });
  await expect.poll(async () => (await bridge.record(id)).agent, POLL).toBeTruthy();
  const { keeper, socket_path: socketPath } = await bridge.record(id);
  await breakIt(realPid(keeper?.pid), socketPath);
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
    await expect.poll(async () => (await bridge.record(id)).agent, POLL).toBeTruthy();
    const keeper = realPid((await bridge.record(id)).keeper?.pid);
    const path = join(bridge.workplace.stateDir, 'tasks', id, 'record.json');
    // One that goes on writes its record again.
    if (!isKilled) process.kill(keeper, 'SIGSTOP');
    await writeFile(path, (await readFile(path, 'utf8')).slice(0, -100));
    if (isKilled) expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    else process.kill(keeper, 'SIGKILL');
    expect(await bridge.end(id)).toMatchObject(
      isKilled
        ? { status: 'killed' }
        : { status: 'error', reason: expect.stringContaining('cannot be read') as unknown },
    );
  }
});
