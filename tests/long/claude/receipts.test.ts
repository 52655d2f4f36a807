import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { receiptSchema, type Receipt } from '../../../src/tasks/receipt/receipt.js';
import { taskRecordSchema } from '../../../src/tasks/task.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const run = promisify(execFile);

async function git(cwd: string, ...args: string[]): Promise<string> {
  const fixed = ['-c', 'user.name=N', '-c', 'user.email=n@example.com'];
  return (await run('git', [...fixed, ...args], { cwd, timeout: 10_000 })).stdout.trim();
}

/** A repository with one commit, and two uncommitted files. */
async function prepare(project: string): Promise<void> {
  await git(project, 'init', '--quiet', '--initial-branch=main');
  await git(project, 'config', 'user.name', 'N');
  await git(project, 'config', 'user.email', 'n@example.com');
  await writeFile(join(project, 'kept.txt'), 'kept\n');
  await git(project, 'add', '.');
  await git(project, 'commit', '--quiet', '-m', 'first');
  await writeFile(join(project, 'kept.txt'), 'kept, and mine\n');
  await writeFile(join(project, 'mine.txt'), 'mine\n');
}

/** The whole receipt, from the resource. */
async function receiptOf(bridge: TestBridge, id: string): Promise<Receipt> {
  const text = await bridge.mcp.readResource(`tasks://${id}`);
  return z.looseObject({ receipt: receiptSchema }).parse(JSON.parse(text)).receipt;
}

describe('a program that is not Claude Code', () => {
  it('has a receipt too: its exit code, and what git saw', async () => {
    const bridge = await startBridge({ claude: '/bin/sh' });
    await prepare(bridge.project);
    const prompt = `echo new > new.txt; exit 4\n`;
    const id = await bridge.start({ prompt, path: bridge.project });
    expect(await bridge.end(id)).toMatchObject({ status: 'failed', exit_code: 4 });
    expect(await receiptOf(bridge, id)).toMatchObject({
      exit_code: 4,
      commands_source: 'none',
      usage: { source: 'unknown', cost_usd: 'unknown' },
      git: { files: [{ path: 'new.txt', change: 'created' }], dirty_before: { count: 2 } },
    });
  });

  it('has none while it runs, and one that is made later when its keeper dies', async () => {
    const bridge = await startBridge({ claude: '/bin/sh' });
    await prepare(bridge.project);
    const prompt = `echo new > new.txt\nsleep 600\n`;
    const id = await bridge.start({ prompt, path: bridge.project });
    expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({ receipt: null });
    await expect.poll(() => readFile(join(bridge.project, 'new.txt'), 'utf8').catch(() => '')).toBe('new\n');
    const taskDir = join(bridge.workplace.stateDir, 'tasks', id);
    const record = taskRecordSchema.parse(JSON.parse(await readFile(join(taskDir, 'record.json'), 'utf8')));
    if (record.keeper === null) throw new Error('the task has no keeper');
    process.kill(record.keeper.pid, 'SIGKILL');
    expect(await bridge.end(id)).toMatchObject({ status: 'error' });
    expect(await receiptOf(bridge, id)).toMatchObject({
      complete: false,
      status: 'error',
      git: { state: 'repository', files: [{ path: 'new.txt', change: 'created' }] },
    });
    // The lock of a dead keeper is taken over by the next task.
    await bridge.end(await bridge.start({ prompt: 'exit 0\n', path: bridge.project }));
  });
});
