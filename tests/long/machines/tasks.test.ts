import { cp, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { commandOf } from '../../harness/marked-processes.js';
import { olderBuild } from '../../harness/older-build.js';
import { APP, writeLauncher, type SshMachine } from '../../harness/ssh-machines.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { isFinal } from '../../../src/tasks/task.js';
import { until } from '../../harness/until.js';
import { describeMachines, serversOf, sharedMachines } from './shared-machines.js';

const TASKS = 10;
const RUNNING = 5;
/** A command that works until its project has the file `go`. */
const WAITS = 'DO until [ -e go ]; do sleep 0.2; done; echo made > made.txt';

describeMachines('tasks on three machines', (claude) => {
  const machines = sharedMachines({ claude, count: 3 });
  const near = (): Promise<TestBridge> => startBridge({ claude, env: machines().env });

  it('ten tasks run over one process a machine, in one list with one here, and nothing of them is kept here', async () => {
    const bridge = await near();
    const started = Array.from({ length: TASKS }, async (_, index) => {
      const machine = machines().machine((index % 3) + 1);
      const path = await machine.folder(`ten-${index}`);
      const prompt = `DO hostname > where.txt; echo ${index} >> where.txt`;
      const id = await bridge.start({ machine: machine.name, path, prompt });
      return { id, path, index, machine };
    });
    const tasks = await Promise.all(started);
    for (const { id, machine } of tasks)
      expect(id).toMatch(new RegExp(`^${machine.name}/task_[0-9a-f]{20}$`));
    for (const { id } of tasks)
      expect(await bridge.end(id)).toMatchObject({ task_id: id, status: 'completed', last_output: 'Done.' });
    expect(await childrenOf(bridge)).toEqual(
      machines()
        .all.map(({ command }) => [...command, 'sh'].join(' '))
        .sort(),
    );

    const here = await bridge.start();
    await bridge.end(here);
    expect((await bridge.ids()).sort()).toEqual([here, ...tasks.map(({ id }) => id)].sort());
    for (const { path, index, machine } of tasks) {
      const read = await bridge.call('read_file', { machine: machine.name, path: join(path, 'where.txt') });
      expect(read['content']).toBe(`${machine.name}\n${index}\n`);
      const receipt = await bridge.call('get_task_result', { task_id: tasks[index]?.id });
      expect(receipt['task_id']).toBe(tasks[index]?.id);
    }
  });

  it('a near server that is killed takes its processes along and nothing else, and the next one sees all', async () => {
    const bridge = await near();
    const ids = await Promise.all(
      machines().all.map(async (machine) =>
        bridge.start({
          machine: machine.name,
          path: await machine.folder('killed'),
          prompt: 'DO echo made > made.txt',
          permission_mode: 'cautious',
        }),
      ),
    );
    const asked = await Promise.all(ids.map((id) => bridge.decision(id)));
    process.kill(bridge.mcp.pid, 'SIGKILL');
    const next = await bridge.another();
    expect((await next.ids({ status: 'active' })).sort()).toEqual([...ids].sort());
    for (const [index, id] of ids.entries()) {
      const decision = await next.decision(id);
      expect(decision.decision_id).toBe(asked[index]?.decision_id);
      await next.respond(id, decision, { verdict: 'allow' });
      expect(await next.end(id)).toMatchObject({ status: 'completed' });
    }
    await until('the lines of the killed server have ended', async () => {
      for (const machine of machines().all) expect((await serversOf(machine)).size).toBe(1);
    });
  });

  it('the bridge over there is replaced by a newer one in another folder under five running tasks', async () => {
    const machine = machines().machine(1);
    await older(machine);
    const bridge = await near();
    const paths = await Promise.all(Array.from({ length: RUNNING }, () => machine.folder('upgraded')));
    const start = (path: string): Promise<string> =>
      bridge.start({ machine: machine.name, path, prompt: WAITS });
    const ids = await Promise.all(paths.map(start));
    const [server] = await serversOf(machine);
    expect(server?.[1]).toContain('/opt/machine/older');
    for (const id of ids) await bridge.until(id, ({ activity }) => activity.includes('Bash'));

    await writeLauncher(machine.machineDir, APP);
    await rm(join(machine.machineDir, 'older'), { recursive: true });
    await machine.cut('reset');
    expect((await bridge.ids({ status: 'active' })).sort()).toEqual([...ids].sort());
    const [newer] = await serversOf(machine);
    expect(newer?.[1]).toContain(`${APP}/dist/main.js`);
    for (const [index, id] of ids.entries()) {
      expect(isFinal((await bridge.status(id)).status)).toBe(false);
      await machine.exec(['touch', join(paths[index] ?? '', 'go')]);
      expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
    }
    expect(await machine.exec(['cat', ...paths.map((path) => join(path, 'made.txt'))])).toBe(
      'made\n'.repeat(RUNNING),
    );
  });
});

/** The command lines of what the server has started, in order. */
async function childrenOf({ workplace, mcp }: TestBridge): Promise<string[]> {
  const pids = (await workplace.processes()).filter((pid) => pid !== mcp.pid);
  return (await Promise.all(pids.map(commandOf))).sort();
}

/** Gives the machine an older build of the bridge. */
async function older({ machineDir }: SshMachine): Promise<void> {
  const folder = join(dirname(await olderBuild(machineDir)), '..');
  await rm(join(folder, 'node_modules'));
  await symlink(join(APP, 'node_modules'), join(folder, 'node_modules'));
  await cp(join(import.meta.dirname, '..', '..', '..', 'package.json'), join(folder, 'package.json'));
  await writeLauncher(machineDir, '/opt/machine/older');
}
