import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { SshMachine } from '../../harness/ssh-machines.js';
import { sharedBridge, type TestBridge } from '../../harness/start-bridge.js';
import { describeMachines, sharedMachines } from './shared-machines.js';

const ROUNDS = 12;
const STEP_MS = 41;

describeMachines('a line that is reset 0 to 450 ms after a call was sent', (claude) => {
  const machines = sharedMachines({ claude, count: 1 });
  const near = sharedBridge(() =>
    Promise.resolve({ claude, env: { ...machines().env, MCP_TOOLSETS: 'all' } }),
  );
  /** What each round does, with its number and a folder of its own there. */
  const rounds = async (
    name: string,
    act: (round: {
      readonly index: number;
      readonly path: string;
      readonly bridge: TestBridge;
      readonly machine: SshMachine;
    }) => Promise<void>,
  ): Promise<void> => {
    const machine = machines().machine(1);
    for (let index = 0; index < ROUNDS; index++)
      await act({ index, path: await machine.folder(`${name}-${index}`), bridge: near(), machine });
  };

  it('a task is started once', () =>
    rounds('start', async ({ index, path, bridge, machine }) => {
      const args = { machine: machine.name, path, prompt: 'DO echo x >> ran.txt', on_conflict: 'queue' };
      const started = await cutDuring(machine, index, () => once(bridge, 'start_task', args, `s-${path}`));
      const ids = await bridge.ids({ machine: machine.name, path });
      expect(ids).toEqual([started['task_id']]);
      expect(await bridge.end(String(started['task_id']))).toMatchObject({ status: 'completed' });
      expect(await machine.exec(['cat', join(path, 'ran.txt')])).toBe('x\n');
    }));

  it('a process is spawned once', () =>
    rounds('spawn', async ({ index, path, bridge, machine }) => {
      const args = {
        machine: machine.name,
        command: 'echo x >> ran.txt',
        shell: true,
        cwd: path,
        keep: true,
      };
      await cutDuring(machine, index, () => once(bridge, 'spawn', args, `p-${path}`));
      expect(await machine.exec(['cat', join(path, 'ran.txt')])).toBe('x\n');
    }));

  it('a call without a request id gets one here: it is done once when it was answered, and else not twice', () =>
    rounds('unnamed', async ({ index, path, bridge, machine }) => {
      const args = {
        machine: machine.name,
        command: 'echo x >> ran.txt',
        shell: true,
        cwd: path,
        keep: true,
      };
      const isAnswered = await cutDuring(machine, index, () =>
        bridge.call('spawn', args).then(
          () => true,
          () => false,
        ),
      );
      const ran = await machine.exec(['sh', '-c', `cat ${path}/ran.txt || true`]);
      expect(isAnswered ? ['x\n'] : ['', 'x\n']).toContain(ran);
    }));

  it('a file is written once', () =>
    rounds('write', async ({ index, path, bridge, machine }) => {
      const file = join(path, 'a.txt');
      const at = { machine: machine.name, path: file };
      const { sha256 } = await bridge.call('write_file', { ...at, content: 'one\n' });
      // Written a second time it would have changed since.
      const args = { ...at, content: 'two\n', expected_sha256: sha256 };
      await cutDuring(machine, index, () => once(bridge, 'write_file', args, `w-${path}`));
      expect(await machine.exec(['cat', file])).toBe('two\n');
    }));

  it('a message is sent once', () =>
    rounds('message', async ({ index, path, bridge, machine }) => {
      const id = await bridge.start({ machine: machine.name, path, prompt: 'Wait.', keep_open: true });
      await bridge.until(
        id,
        ({ last_output, status }) => status === 'waiting' || last_output.includes('Done.'),
      );
      const args = { task_id: id, text: 'DO echo x >> ran.txt' };
      await cutDuring(machine, index, () => once(bridge, 'message_task', args, `m-${path}`));
      await bridge.until(
        id,
        async () => (await machine.exec(['sh', '-c', `cat ${path}/ran.txt || true`])) !== '',
      );
      // What a second one would do comes after it.
      await once(bridge, 'message_task', { task_id: id, text: 'DO echo y >> ran.txt' }, `n-${path}`);
      await bridge.until(id, async () => (await machine.exec(['cat', join(path, 'ran.txt')])).includes('y'));
      expect(await machine.exec(['cat', join(path, 'ran.txt')])).toBe('x\ny\n');
      await bridge.call('kill_task', { task_id: id });
    }));

  it('an answer is given once, and the same call again says that it was', () =>
    rounds('respond', async ({ index, path, bridge, machine }) => {
      const prompt = 'DO echo x >> ran.txt';
      const id = await bridge.start({ machine: machine.name, path, prompt, permission_mode: 'cautious' });
      const { decision_id } = await bridge.decision(id);
      const args = { task_id: id, decision_id, verdict: 'allow' };
      await cutDuring(machine, index, () => once(bridge, 'respond_to_task', args, `r-${path}`));
      await bridge.call('respond_to_task', { ...args, request_id: `r-${path}` });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
      expect(await bridge.decided(id)).toEqual(['Bash allow caller']);
      expect(await machine.exec(['cat', join(path, 'ran.txt')])).toBe('x\n');
    }));

  it('a worktree is finished once, and the same call again says that it was', () =>
    rounds('finish', async ({ index, path, bridge, machine }) => {
      const git =
        'git init -q && git -c user.name=T -c user.email=t@t.invalid commit -q --allow-empty -m first';
      await machine.exec(['sh', '-c', `cd ${path} && ${git}`]);
      const prompt = 'DO echo x > a.txt';
      const more = { on_conflict: 'always_worktree' };
      const id = await bridge.start({ machine: machine.name, path, prompt, ...more });
      expect(await bridge.end(id)).toMatchObject({ status: 'completed' });
      const { reviewed } = await bridge.call('get_task_result', { task_id: id });
      const args = { task_id: id, action: 'apply', reviewed };
      const first = await cutDuring(machine, index, () => once(bridge, 'finish_task', args, `f-${path}`));
      expect(await bridge.call('finish_task', { ...args, request_id: `f-${path}` })).toEqual(first);
      expect(await machine.exec(['cat', join(path, 'a.txt')])).toBe('x\n');
    }));
});

/** A call that is made again with the same request id until it is answered. */
async function once(
  bridge: TestBridge,
  tool: string,
  args: Readonly<Record<string, unknown>>,
  request_id: string,
): Promise<Record<string, unknown>> {
  for (;;) {
    try {
      return await bridge.call(tool, { ...args, request_id });
    } catch (error) {
      if (!String(error).includes('MACHINE_UNREACHABLE')) throw error;
    }
  }
}

async function cutDuring<T>(machine: SshMachine, index: number, call: () => Promise<T>): Promise<T> {
  const answered = call();
  await pause(index * STEP_MS);
  await machine.cut('reset');
  return answered;
}
