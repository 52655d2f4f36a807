// The line to a bridge on another machine: here another process of the built server, with what a line lets it have.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LinkMethods } from '../../src/machines/link-protocol.js';
import type { Machine, Machines } from '../../src/machines/machine.js';
import { openMachines } from '../../src/machines/machines.js';
import { commandOf } from '../harness/marked-processes.js';
import { repository } from '../harness/project-files.js';
import { refusal } from '../harness/refusal.js';
import { asksEnv, scriptedAgent } from '../harness/scripted-agent.js';
import { serverEntry, sharedBridge } from '../harness/start-bridge.js';
import { until } from '../harness/until.js';

const bridge = sharedBridge({ claude: scriptedAgent, env: asksEnv });
let machines: Machines;
let gpu: Machine;
beforeAll(() => {
  const { env, workplace } = bridge();
  const words = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const machine = {
    command: ['env', '-i', ...words],
    bridge: [process.execPath, serverEntry],
    pass_environment: ['CANARY'],
  };
  machines = openMachines({
    config: { machines: { gpu: machine } },
    env: { PATH: process.env['PATH'], CANARY: 'of-the-line' },
    homeDir: workplace.homeDir,
  });
  gpu = machines.get('gpu');
});
afterAll(() => machines.dispose());

const again = { repeats: true };

async function start(path: string, behaviour: string): Promise<string> {
  const answer = await gpu.callTool(
    'start_task',
    { path, prompt: `AGENT: ${behaviour}` },
    { repeats: false },
  );
  return String(answer['task_id']);
}

function waitFor(task_id: string, isSo: (task: LinkMethods['task.get']['value']) => boolean) {
  return until('the task there is so', async () => {
    const task = await gpu.call('task.get', { task_id }, again);
    return isSo(task) && task;
  });
}

const hasEnded = (task: LinkMethods['task.get']['value']): boolean => task.ended_at !== null;

/** The pid of the far server. */
async function farServer(): Promise<number> {
  return until('the far server runs', async () => {
    for (const pid of await bridge().workplace.processes())
      if ((await commandOf(pid)).includes('serve --link')) return pid;
    return false;
  });
}

test('a task there is started, asks, is answered and read over the line as at home', async () => {
  const task_id = await start(await bridge().newProject('there'), 'split-prompt');
  const asking = await waitFor(task_id, ({ decisions }) => decisions.length > 0);
  const answer = {
    decision_id: asking.decisions[0]?.decision_id ?? '',
    verdict: 'allow',
    by: 'caller',
  } as const;
  await gpu.call('task.respond', { task_id, answer }, { repeats: false });
  expect(await waitFor(task_id, hasEnded)).toEqual(await bridge().record(task_id));
  const page = await gpu.call('task.output', { task_id, view: 'log', max_bytes: 10_000 }, again);
  expect(page.text).toContain('GOT:');
  const { receipt } = await gpu.call('task.receipt', { task_id }, again);
  expect(receipt).toMatchObject({ task_id, status: 'completed' });
  expect((await gpu.call('task.list', {}, again)).tasks[0]?.task_id).toBe(task_id);
});

test('the patch of a task comes in parts that together are what git diff prints, byte by byte', async () => {
  const path = await bridge().newProject('patched');
  await repository(path);
  const task_id = await start(path, 'never-exits');
  const lines = Buffer.from(`Stra\xdfe ${'x'.repeat(90)}\n`.repeat(15_000), 'latin1');
  await writeFile(join(path, 'big.txt'), lines);
  await gpu.call('task.kill', { task_id, reason: 'It was enough.' }, { repeats: false });
  const parts: Buffer[] = [];
  for (let offset: number | undefined = 0; offset !== undefined;) {
    const part: LinkMethods['task.patch']['value'] = await gpu.call('task.patch', { task_id, offset }, again);
    parts.push(Buffer.from(part.bytes ?? '', 'base64'));
    offset = part.next_offset;
  }
  expect(parts).toHaveLength(2);
  const patch = Buffer.concat(parts);
  expect(patch.toString('latin1').match(/^\+Stra\xdfe x+$/gmu)).toHaveLength(15_000);
  const { out } = await bridge().command(['tasks', 'diff', task_id]);
  expect(patch.toString('utf8')).toBe(out);
});

test('a channel carries the bytes of the keeper there, waits for its reader, and ends with the task', async () => {
  const task_id = await start(await bridge().newProject('channel'), 'never-exits');
  const channel = await gpu.openChannel({ kind: 'terminal', task_id });
  let text = '';
  channel.onData((data) => {
    text += Buffer.from(data).toString('utf8');
    channel.taken(data.length);
  });
  channel.send(Buffer.from('{"id":7,"method":"ping"}\n'));
  await until('the keeper has greeted and answered', () => text.includes('{"id":7}'));
  expect(text).toContain('"push":"record"');
  const closed = new Promise((resolve) => channel.onClose(resolve));
  await gpu.call('task.kill', { task_id, reason: 'It was enough.' }, { repeats: false });
  expect(await closed).toBe('the keeper of the task has closed the connection');
});

test('a channel to a task that has ended is refused with why', async () => {
  const task_id = await start(await bridge().newProject('gone'), 'exit 0');
  await waitFor(task_id, hasEnded);
  const refused = await until('its keeper has gone', async () => {
    const opened = await refusal(gpu.openChannel({ kind: 'terminal', task_id }));
    return !opened.startsWith('no error') && opened;
  });
  expect(refused).toContain(
    `TASK_UNREACHABLE: gpu says: Task ${task_id} cannot be reached: its keeper is gone.`,
  );
});

test('a far server that dies ends nothing: who waited for a task gets its end over the next one', async () => {
  const task_id = await start(await bridge().newProject('survives'), 'exits-after 1500');
  const pid = await farServer();
  const waits = waitFor(task_id, hasEnded);
  process.kill(pid, 'SIGKILL');
  expect(await waits).toMatchObject({ status: 'completed' });
  expect(await farServer()).not.toBe(pid);
  expect(gpu.state).toMatchObject({ how: 'live', far: { home: bridge().workplace.homeDir } });
});

test('variables that the machine gets are in the environment of the far server, and in no argument of a process', async () => {
  await gpu.call('ping', {}, again);
  const pids = await bridge().workplace.processes();
  const commands = await Promise.all(pids.map(commandOf));
  expect(commands.join('\n')).toContain('serve --link --pass CANARY');
  expect(commands.join('\n')).not.toContain('of-the-line');
});
