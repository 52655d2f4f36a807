import { spawnSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { KeeperClient } from '../../../src/keeper/host/keeper-client.js';
import { isFinal, type TaskRecord } from '../../../src/tasks/task.js';
import { launchSpec } from '../../harness/launch-spec.js';
import { scriptedAgent } from '../../harness/scripted-agent.js';
import { serverEntry, startBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

const POLL = { timeout: 20_000, interval: 100 };

/** The record as its keeper has it, whatever the disk says. */
async function heldRecord(record: TaskRecord): Promise<TaskRecord> {
  const link = await KeeperClient.connect(record.task_id, record.socket_path);
  if (link === undefined) throw new Error('the keeper is gone');
  try {
    return await new Promise((resolve) => link.onRecord(resolve));
  } finally {
    link.dispose();
  }
}

async function numbersIn(path: string): Promise<number[]> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return [...text.matchAll(/^n (\d+)$/gm)].map((match) => Number(match[1]));
}

/** A small disk of its own, where that can be had; undefined where it cannot (not root, no mounts). */
async function smallDisk(path: string, megabytes: number): Promise<boolean> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', path]);
  return mounted.status === 0;
}

describe('a disk that fails under a running task', () => {
  it('that is full costs no task: the status says so, and what waited is written when there is room', async () => {
    const workplace = await createWorkplace();
    const isMounted = await smallDisk(workplace.stateDir, 2);
    const bridge = await startBridge({ claude: scriptedAgent, workplace });
    onTestFinished(() => {
      if (isMounted) spawnSync('umount', ['-l', workplace.stateDir]);
    });
    const id = await bridge.agent('counts');
    const started = await bridge.record(id);
    const filler = join(workplace.stateDir, 'filler');
    // Without a disk of its own the folder becomes a file: writes fail in the same way.
    if (isMounted) await writeFile(filler, Buffer.alloc(4 * 1024 * 1024)).catch(() => undefined);
    else {
      await rm(join(workplace.stateDir, 'tasks', id), { recursive: true });
      await writeFile(join(workplace.stateDir, 'tasks', id), '');
    }
    await expect
      .poll(async () => (await heldRecord(started)).storage, POLL)
      .toMatch(/^failing since .*(ENOSPC|ENOTDIR|ENOENT)/);
    expect((await heldRecord(started)).status).toBe('running');
    await rm(isMounted ? filler : join(workplace.stateDir, 'tasks', id));
    await expect.poll(async () => (await heldRecord(started)).storage ?? '', POLL).not.toMatch(/^failing/);
    expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    const log = await readFile(started.log_file, 'utf8');
    expect(log).toMatch(/Storage: failing since/);
    expect(log).toMatch(/Storage: the disk failed from .* to /);
    const numbers = await numbersIn(started.log_file);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    const words = (await bridge.events(id, 'storage')).map(({ state }) => state);
    expect(words).toContain('back');
  });

  it('whose state folder and log are removed makes them again, and the task ends as it should', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const id = await bridge.agent('counts');
    const started = await bridge.record(id);
    // The agent has its prompt by then, which lies in that folder.
    await expect.poll(() => numbersIn(started.log_file), POLL).not.toEqual([]);
    // A file that the keeper puts there meanwhile makes the removal begin again.
    await rm(join(bridge.workplace.stateDir, 'tasks', id), { recursive: true, maxRetries: 100 });
    await expect
      .poll(() => bridge.record(id).catch(() => undefined), POLL)
      .toMatchObject({ status: 'running' });
    expect(await readFile(started.log_file, 'utf8')).toMatch(/Storage: (failing since|removed while in use)/);
    // As `git clean` does.
    await rm(join(bridge.project, '.claude'), { recursive: true });
    await expect.poll(() => numbersIn(started.log_file), POLL).not.toEqual([]);
    expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    expect(await bridge.record(id)).toMatchObject({
      status: 'killed',
      storage: expect.stringMatching(/removed while in use and started again: .*log/),
    });
  });
});

describe('limits of the system', () => {
  it('a server with almost no descriptors refuses with words, and goes on answering', async () => {
    const bridge = await startBridge({
      claude: scriptedAgent,
      command: ['/bin/sh', '-c', `ulimit -n 50; exec '${process.execPath}' '${serverEntry}'`],
    });
    const started = await bridge.mcp.callTool('start_task', {
      prompt: 'AGENT: exit 0',
      path: bridge.project,
    });
    const words = started.content.map((block) => block.text ?? '').join('\n');
    expect(await bridge.call('list_tasks')).toHaveProperty('tasks');
    await bridge.mcp.close();
    if (started.isError !== true) return;
    expect(words).toMatch(/^[A-Z_]+: .*/);
    // What it could not take back for want of descriptors is no hindrance when it is gone.
    const { task_id } = await launchSpec(bridge, 'AGENT: exit 0', {});
    await expect.poll(async () => isFinal((await bridge.record(task_id)).status), POLL).toBe(true);
  });

  it('a socket path that is too long in the state and in the temporary folder is reported, with the way out', async () => {
    const workplace = await createWorkplace();
    const [tmp, state] = ['x', 'y'].map((name) => join(workplace.root, name.repeat(100)));
    await mkdir(tmp ?? '', { mode: 0o700 });
    const bridge = await startBridge({
      claude: scriptedAgent,
      workplace,
      env: { TMPDIR: tmp ?? '', MCP_STATE_DIR: state ?? '' },
    });
    expect(await bridge.refusal('start_task', { prompt: 'AGENT: exit 0', path: bridge.project })).toMatch(
      /^STATE_UNUSABLE: The socket path .* is \d+ bytes long.*MCP_STATE_DIR/s,
    );
    expect(await bridge.call('list_tasks')).toMatchObject({ tasks: [] });
  });
});

describe('ends that meet', () => {
  it('a time limit that meets an exit gives one of both, wholly', async () => {
    const delaysMs = [800, 950, 1_000, 1_050];
    const bridge = await startBridge({
      claude: scriptedAgent,
      projects: delaysMs.map((delayMs) => `ends-${delayMs}`),
    });
    const ends = bridge.projects.map(async (project_path, index) => {
      const overrides = { timeout_seconds: 1, project_path };
      const { task_id } = await launchSpec(bridge, `AGENT: exits-after ${delaysMs[index]}`, overrides);
      return bridge.end(task_id);
    });
    for (const end of await Promise.all(ends)) {
      if (end.status === 'completed') expect(end).toMatchObject({ exit_code: 0 });
      else expect(`${end.status}: ${end.reason}`).toMatch(/^timeout: .* 1 seconds/);
    }
  });

  it('an agent that stopped itself is ended, with its child in another session', async () => {
    const bridge = await startBridge({ claude: scriptedAgent });
    const id = await bridge.agent('stops-itself');
    await expect.poll(async () => (await bridge.output(id, 'screen')).text, POLL).toContain('STOPPING');
    expect(await bridge.call('kill_task', { task_id: id })).toMatchObject({ status: 'killed' });
    await bridge.onlyServer();
  });
});

it('a clock that is set back one hour makes no duration negative and no time limit late', async () => {
  const workplace = await createWorkplace();
  const shim = join(workplace.root, 'clock.mjs');
  // The keeper's wall clock jumps while its task runs.
  await writeFile(
    shim,
    `const now = Date.now, from = performance.now();
Date.now = () => now() - (performance.now() - from > 1_000 ? 3_600_000 : 0);`,
  );
  const bridge = await startBridge({
    claude: scriptedAgent,
    workplace,
    command: [process.execPath, '--import', shim, serverEntry],
  });
  const { task_id } = await launchSpec(bridge, 'AGENT: never-exits', { timeout_seconds: 3 }, [
    '--import',
    shim,
  ]);
  const seen: number[] = [];
  const end = await bridge.until(task_id, (view) => {
    seen.push(view.elapsed_seconds);
    return isFinal(view.status);
  });
  expect(end).toMatchObject({ status: 'timeout' });
  expect(end.elapsed_seconds).toBeGreaterThanOrEqual(3);
  expect(end.elapsed_seconds).toBeLessThan(60);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(Math.min(...seen)).toBeGreaterThanOrEqual(0);
});
