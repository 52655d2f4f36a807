import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { createSecret } from '../../../src/base/ids.js';
import { processRecordSchema } from '../../../src/processes/process-record.js';
import { requestKey } from '../../../src/store/requests.js';
import { direct } from './processes/open-docker-backend.js';
import { describeDocker, dockerEnv } from '../../harness/docker-engine.js';
import { startBridge } from '../../harness/start-bridge.js';
import { until } from '../../harness/until.js';

const stateSchema = z.looseObject({
  pid: z.string(),
  status: z.string(),
  exit_code: z.int().nullable(),
  stdout: z.string().optional(),
  screen: z.string().optional(),
  signal: z.string().nullable(),
});

/** Names of the containers that the bridge made for these processes. */
async function containersOf(pids: readonly string[]): Promise<string[]> {
  return (await direct.listContainers({ all: true }))
    .flatMap(({ Names }) => Names)
    .filter((name) => pids.some((pid) => name === `/process-mcp-${pid}`));
}

async function removeVolumes(pids: readonly string[]): Promise<void> {
  for (const pid of pids)
    await direct
      .getVolume(`process-mcp-volume-${pid}`)
      .remove()
      .catch(() => undefined);
}

describeDocker('processes in containers, through a server', ({ busyboxImage }) => {
  const open = () =>
    startBridge({
      claude: 'claude',
      env: { ...dockerEnv(), MCP_TOOLSETS: 'process', MCP_DOCKER_IMAGE: busyboxImage },
    });

  it('are started, typed into, looked at, copied from and ended; those of a dead server are removed', async () => {
    const bridge = await open();
    const pids: string[] = [];
    onTestFinished(() => removeVolumes(pids));
    const call = async (tool: string, args: Record<string, unknown>) => {
      const state = stateSchema.parse(await bridge.call(tool, args));
      if (tool === 'spawn') pids.push(state.pid);
      return state;
    };

    const failed = await call('spawn', {
      command: 'pwd; echo broken >&2; exit 3',
      shell: true,
      mode: 'docker',
      timeout_seconds: 60,
    });
    expect(failed).toMatchObject({ status: 'terminated', exit_code: 3, stdout: '/home/agent\n' });
    expect(failed).toMatchObject({ stderr: 'broken\n' });

    const shell = await call('spawn', { command: 'sh', mode: 'docker', tty: true, background: true });
    const typed = await call('stdin', {
      pid: shell.pid,
      text: 'echo $((6 * 7)) > answer && cat answer\n',
      wait_for: '42',
      timeout_seconds: 30,
    });
    expect(typed.screen).toContain('42');
    const listed = await bridge.call('ps');
    expect(listed).toMatchObject({
      processes: [
        { pid: shell.pid, mode: 'docker', status: 'running', process_count: 1 },
        { pid: failed.pid },
      ],
    });

    await writeFile(join(bridge.project, 'input'), 'from outside\n');
    const into = { pid: shell.pid, source: join(bridge.project, 'input'), destination: 'in' };
    expect(await bridge.call('copy_to', into)).toMatchObject({
      path: '/home/agent/in/input',
      size_bytes: 13,
    });
    const killed = await call('kill', { pid: shell.pid, signal: 'SIGKILL' });
    expect(killed).toMatchObject({ status: 'terminated', signal: 'SIGKILL' });
    for (const [source, content] of [
      ['answer', '42\n'],
      ['in/input', 'from outside\n'],
    ] as const) {
      const out = { pid: shell.pid, source, destination: join(bridge.project, 'out') };
      expect(await bridge.call('copy_from', out)).toMatchObject({ files: 1 });
      expect(await readFile(join(bridge.project, 'out'), 'utf8')).toBe(content);
    }
    const planted = { pid: shell.pid, source: 'answer', destination: join(bridge.project, '.mcp.json') };
    expect(await bridge.refusal('copy_from', planted)).toContain('PROTECTED_PATH');
    const missing = { command: 'true', mode: 'docker', image: 'claude-code-bridge-test/none' };
    expect(await bridge.refusal('spawn', missing)).toContain('docker pull claude-code-bridge-test/none');
    expect(await containersOf(pids)).toEqual([]);

    const left = await call('spawn', { command: 'sleep', args: ['600'], mode: 'docker', background: true });
    expect(await containersOf(pids)).toEqual([`/process-mcp-${left.pid}`]);
    process.kill(bridge.mcp.pid, 'SIGKILL');
    const next = await bridge.another();
    await next.call('ps');
    await expect.poll(() => containersOf(pids), { timeout: 30_000 }).toEqual([]);
  });

  it('are kept for any later server when asked for, and removed when their keeper was killed', async () => {
    const bridge = await open();
    const pids: string[] = [];
    onTestFinished(() => removeVolumes(pids));
    const { pid } = stateSchema.parse(
      await bridge.call('spawn', {
        command: 'test -d /project && while read -r x; do echo "got $x" | tee -a all; done; exit 5',
        shell: true,
        mode: 'docker',
        mount_project: bridge.project,
        keep: true,
        background: true,
      }),
    );
    pids.push(pid);
    await bridge.call('stdin', { pid, text: 'one\n', wait_for: 'got one', timeout_seconds: 30 });
    await bridge.mcp.close();

    const next = await bridge.another();
    expect(await next.call('ps')).toMatchObject({
      processes: [{ pid, mode: 'docker', status: 'running', keep: true, process_count: 1 }],
    });
    const typed = { pid, text: 'two\n', wait_for: 'got two', timeout_seconds: 30 };
    expect(await next.call('stdin', typed)).toMatchObject({ status: 'running', stdout: 'got two\n' });
    const out = { pid, source: 'all', destination: join(bridge.project, 'out') };
    expect(await next.call('copy_from', out)).toMatchObject({ files: 1 });
    expect(await readFile(join(bridge.project, 'out'), 'utf8')).toBe('got one\ngot two\n');
    expect(await next.call('stdin', { pid, eof: true, timeout_seconds: 30 })).toMatchObject({
      status: 'terminated',
      exit_code: 5,
      stdout: '',
    });
    expect(await next.call('stdout', { pid })).toMatchObject({ text: 'got one\ngot two\n' });
    await expect.poll(() => containersOf(pids), { timeout: 30_000 }).toEqual([]);

    const left = stateSchema.parse(
      await next.call('spawn', {
        command: 'sleep 600',
        shell: true,
        mode: 'docker',
        keep: true,
        background: true,
      }),
    );
    pids.push(left.pid);
    expect(await containersOf(pids)).toEqual([`/process-mcp-${left.pid}`]);
    const record = join(bridge.workplace.stateDir, 'processes', left.pid, 'record.json');
    const { owner } = processRecordSchema.parse(JSON.parse(await readFile(record, 'utf8')));
    process.kill(owner.pid, 'SIGKILL');
    await expect
      .poll(() => next.call('ps'), { timeout: 30_000 })
      .toMatchObject({
        processes: [{ pid: left.pid, status: 'terminated' }, { pid }],
      });
    expect(await next.call('stdout', { pid: left.pid })).toMatchObject({
      reason: 'The keeper of the process is gone; what was left of it was ended.',
    });
    await expect.poll(() => containersOf(pids), { timeout: 30_000 }).toEqual([]);
  });

  it('with a request_id are started once, for two servers at once and after the first was killed', async () => {
    const bridge = await open();
    const another = await bridge.another();
    const volume = `requests-${createSecret().slice(0, 8)}`;
    const line = { shell: true, mode: 'docker', volume, timeout_seconds: 45 };
    const pids: string[] = [];
    onTestFinished(() => removeVolumes([...pids, volume]));
    const spawn = async (server: typeof another, args: Record<string, unknown>) => {
      const state = stateSchema.parse(await server.call('spawn', { ...line, ...args }));
      pids.push(state.pid);
      return state;
    };
    for (const keep of [true, false]) {
      const once = { command: 'echo x >> count; wc -l < count', keep, request_id: `race ${keep}` };
      const raced = await Promise.all([bridge, another].map((server) => spawn(server, once)));
      expect(new Set(raced.map(({ pid }) => pid)).size).toBe(1);
      expect(raced).toMatchObject([{ exit_code: 0 }, { exit_code: 0 }]);
      const killed = await bridge.another();
      const cut = { command: 'echo x >> count; sleep 1', keep, request_id: `kill ${keep}` };
      const lost = killed.call('spawn', { ...line, ...cut }).catch(() => undefined);
      const request = join(bridge.workplace.stateDir, 'requests', requestKey(cut.request_id), 'request.json');
      await until('it is begun', async () => (await readFile(request, 'utf8')).includes('pid'));
      process.kill(killed.mcp.pid, 'SIGKILL');
      await lost;
      expect(await spawn(another, cut)).toMatchObject({ status: 'terminated' });
    }
    const { stdout } = await spawn(bridge, { command: 'wc -l < count' });
    // The last one ended with its server, perhaps before it wrote.
    expect(stdout?.trim()).toMatch(/^[34]$/);
    await until('no container is left', async () => expect(await containersOf(pids)).toEqual([]));
  });
});
