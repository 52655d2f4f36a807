import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { receiptSchema, type Receipt } from '../../../src/tasks/receipt/receipt.js';
import { repository, writeFiles } from '../../harness/project-files.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

/** A repository with one commit, and two uncommitted files. */
async function prepare(project: string): Promise<void> {
  await repository(project, { 'kept.txt': 'kept\n' });
  await writeFiles(project, { 'kept.txt': 'kept, and mine\n', 'mine.txt': 'mine\n' });
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
    const id = await bridge.start({ prompt });
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
    const id = await bridge.start({ prompt });
    expect(await bridge.call('get_task_result', { task_id: id })).toMatchObject({ receipt: null });
    await expect.poll(() => readFile(join(bridge.project, 'new.txt'), 'utf8').catch(() => '')).toBe('new\n');
    await bridge.killKeeper(id);
    expect(await bridge.end(id)).toMatchObject({ status: 'error' });
    expect(await receiptOf(bridge, id)).toMatchObject({
      complete: false,
      status: 'error',
      git: { state: 'repository', files: [{ path: 'new.txt', change: 'created' }] },
    });
    // The lock of a dead keeper is taken over by the next task.
    await bridge.end(await bridge.start({ prompt: 'exit 0\n' }));
  });
});
