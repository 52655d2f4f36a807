import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { realPid } from '../../harness/real-pid.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge } from '../../harness/start-bridge.js';
import type { TaskClient } from '../../harness/task-client.js';
import { until } from '../../harness/until.js';
import { createWorkplace, type Workplace } from '../../harness/workplace.js';
import { NEW_NAMESPACE } from '../histories/pid-namespace.js';

type Command = readonly [string, ...string[]];

/** Namespaces are root's to make, and where no machine is shared they may be refused to it, too: then nothing is left to test. */
const canUnshare = spawnSync('unshare', [...NEW_NAMESPACE, 'true']).status === 0;

/** A server whose wall clock is an hour off. */
async function shimOf(workplace: Workplace, hours: number): Promise<string> {
  const shim = join(workplace.root, `clock-${hours}.mjs`);
  await writeFile(shim, `const now = Date.now; Date.now = () => now() + ${hours * 3_600_000};`);
  return shim;
}

/** A command that runs a server after files of the system were replaced for it alone. */
async function withFiles(
  workplace: Workplace,
  files: Readonly<Record<string, string>>,
  namespaces: readonly string[],
): Promise<Command> {
  const mounts: string[] = [];
  for (const [index, [path, text]] of Object.entries(files).entries()) {
    const own = join(workplace.root, `file-${index}`);
    await writeFile(own, `${text}\n`);
    mounts.push(`mount --bind '${own}' '${path}'`);
  }
  const script = [...mounts, 'exec "$@"'].join(' && ');
  return ['unshare', '--mount', ...namespaces, 'sh', '-c', script, 'sh', process.execPath, serverEntry];
}

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const OTHER_BOOT = '11111111-2222-3333-4444-555555555555';
const OTHER_MACHINE = '0123456789abcdef0123456789abcdef';

const places: readonly {
  readonly place: string;
  readonly command: (workplace: Workplace) => Promise<Command>;
}[] = [
  {
    place: 'another pid namespace',
    command: async () => ['unshare', ...NEW_NAMESPACE, process.execPath, serverEntry],
  },
  {
    place: 'another pid namespace whose clock is an hour ahead',
    command: async (workplace) => [
      'unshare',
      ...NEW_NAMESPACE,
      process.execPath,
      '--import',
      await shimOf(workplace, 1),
      serverEntry,
    ],
  },
  {
    place: 'a copy of the machine, with the same id',
    command: (workplace) => withFiles(workplace, { [BOOT_ID]: OTHER_BOOT }, []),
  },
];

async function expectTaskOfOther(
  { task, project }: { readonly task: string; readonly project: string },
  other: TaskClient,
): Promise<void> {
  expect(await other.status(task)).toMatchObject({ status: 'running' });
  const running = await other.call('list_tasks', { status: 'active' });
  expect(running).toMatchObject({ tasks: [{ task_id: task, status: 'running' }] });
  await expect(other.start({ prompt: 'AGENT: exit 0', path: project })).rejects.toThrow(
    /TASK_ALREADY_RUNNING/,
  );
  expect(await other.status(task)).toMatchObject({ status: 'running' });
}

describe.runIf(canUnshare).each(places)('a server in $place', ({ command }) => {
  it('and the first see each other’s tasks as running, and take neither project nor socket', async () => {
    const workplace = await createWorkplace();
    const bridge = await startBridge({ claude: scriptedAgent, workplace });
    const task = await bridge.agent('never-exits');
    const other = await bridge.another('modern', { command: await command(workplace) });
    await expectTaskOfOther({ task, project: bridge.project }, other);
    const socket = join(workplace.stateDir, 'sockets', `${task.slice('task_'.length)}.sock`);
    expect(existsSync(socket)).toBe(true);
    // It is reached there, wherever the server runs.
    expect(await other.call('kill_task', { task_id: task })).toMatchObject({ status: 'killed' });
    expect(await bridge.status(task)).toMatchObject({ status: 'killed' });
    const project = await bridge.newProject('theirs');
    const theirs = await other.start({ prompt: 'AGENT: never-exits', path: project });
    for (const one of [bridge, await bridge.another()])
      await expectTaskOfOther({ task: theirs, project }, one);
    expect(await bridge.call('kill_task', { task_id: theirs })).toMatchObject({ status: 'killed' });
    expect(await other.status(theirs)).toMatchObject({ status: 'killed' });
    const next = await other.start({ prompt: 'AGENT: exit 0', path: project });
    expect(await other.end(next)).toMatchObject({ status: 'completed' });
  });
});

it.runIf(canUnshare)('a task whose pid namespace is gone with all in it gets its end at once', async () => {
  const workplace = await createWorkplace();
  const bridge = await startBridge({ claude: scriptedAgent, workplace });
  const other = await bridge.another('modern', {
    command: ['unshare', ...NEW_NAMESPACE, process.execPath, serverEntry],
  });
  const task = await other.start({ prompt: 'AGENT: never-exits', path: bridge.project });
  expect(await bridge.status(task)).toMatchObject({ status: 'running' });
  // The server is the first process of the namespace: the kernel ends all others with it, also the keeper.
  await other.mcp.close();
  await until('the end is known', async () => {
    expect(await bridge.status(task)).toMatchObject({
      status: 'error',
      reason: expect.stringContaining('in another container, is gone'),
    });
  });
  const next = await bridge.start({ prompt: 'AGENT: exit 0' });
  expect(await bridge.end(next)).toMatchObject({ status: 'completed' });
});

describe.runIf(canUnshare).each([
  { place: 'another machine', namespaces: [] },
  { place: 'another machine in whose pids other processes run', namespaces: NEW_NAMESPACE },
])('a server on $place', ({ namespaces }) => {
  const there = { '/etc/machine-id': OTHER_MACHINE, [BOOT_ID]: OTHER_BOOT };

  it('reads the tasks of the first, and starts none until a person adopts the state directory', async () => {
    const workplace = await createWorkplace();
    const bridge = await startBridge({ claude: scriptedAgent, workplace });
    const task = await bridge.start({ prompt: 'AGENT: never-exits' });
    const command = await withFiles(workplace, there, namespaces);
    const other = await bridge.another('modern', { command });
    expect(await other.status(task)).toMatchObject({ status: 'running' });
    const listed = await other.call('list_tasks');
    expect(listed).toMatchObject({ tasks: [{ task_id: task, status: 'running' }] });
    expect(listed['note']).toMatch(/was written by another machine.* can be read here .* `\S+ state adopt`/);
    const refused = await other.refusal('start_task', { prompt: 'AGENT: exit 0', path: bridge.project });
    expect(refused).toContain('was written by another machine');
    expect(refused).toContain('state adopt');
    const adopt = (): { status: number | null; text: string } => {
      const [program, ...args] = [...command.slice(0, -1), serverEntry, 'state', 'adopt'];
      const { status, stdout, stderr } = spawnSync(program ?? '', args, { env: workplace.env });
      return { status, text: `${stdout}${stderr}` };
    };
    expect(adopt()).toMatchObject({ status: 1, text: expect.stringContaining('still runs') });
    const { keeper } = await bridge.record(task);
    await bridge.mcp.close();
    process.kill(realPid(keeper?.pid), 'SIGKILL');
    await until('the state directory is adopted', () => expect(adopt()).toMatchObject({ status: 0 }));
    await until('the end is known', async () => {
      expect(await other.status(task)).toMatchObject({ status: 'error' });
    });
    const next = await other.start({ prompt: 'AGENT: exit 0', path: bridge.project });
    expect(await other.end(next)).toMatchObject({ status: 'completed' });
  });

  it('goes on with a volume of the same state_owner', async () => {
    const workplace = await createWorkplace();
    const env = { MCP_STATE_OWNER: 'volume-1' };
    const bridge = await startBridge({ claude: scriptedAgent, workplace, env });
    await bridge.end(await bridge.start({ prompt: 'AGENT: exit 0' }));
    const command = await withFiles(workplace, there, namespaces);
    const other = await bridge.another('modern', { command, env });
    const next = await other.start({ prompt: 'AGENT: exit 0', path: bridge.project });
    expect(await other.end(next)).toMatchObject({ status: 'completed' });
  });
});
