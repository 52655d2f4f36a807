import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ScriptedTurn } from '../../../src/cli/demo/messages-api.js';
import { receiptSchema, type Receipt } from '../../../src/tasks/receipt/receipt.js';
import { taskRecordSchema } from '../../../src/tasks/task.js';
import { describeNewestClaude } from '../../harness/real-claude.js';
import { runs, says } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';

const run = promisify(execFile);
/** A reply of the tool: 16 KB of JSON, and a little for what stands around it. */
const REPLY_BYTES = 17_000;

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

function writes(path: string, content: string): ScriptedTurn {
  return { tools: [{ name: 'Write', input: { file_path: path, content } }] };
}

describeNewestClaude('the receipt of a task', ({ version, binary }) => {
  it.each(['interactive', 'print'] as const)(
    'tells what was done, apart from what was there: %s',
    async (driver) => {
      const bridge = await startBridge({
        claude: binary,
        script: () => script(bridge.project, bridge.api.turnsServed - 1),
      });
      await prepare(bridge.project);
      const id = await bridge.start({ prompt: 'Work.', path: bridge.project, driver });
      const end = await bridge.end(id);
      expect(end).toMatchObject({ status: 'completed' });
      expect(end.hint).toContain('get_task_result');
      const result = await bridge.call('get_task_result', { task_id: id });
      expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(REPLY_BYTES);
      expect(result).toMatchObject({ task_id: id, status: 'completed', left_out: {} });

      const receipt = await receiptOf(bridge, id);
      expect(receipt).toMatchObject({
        complete: true,
        notes: [],
        turns: 1,
        exit_code: 0,
        cli_version: version,
      });
      expect(receipt.commands.map(({ command, exit_code }) => [command, exit_code])).toEqual([
        ['echo fine', 0],
        ['echo bad; exit 3', 3],
        ['git add new.txt && git commit -q -m "adds new.txt"', 0],
      ]);
      expect(receipt).toMatchObject({ commands_source: 'journal', commands_total: 3, commands_failed: 1 });
      expect(receipt.files).toEqual([
        { path: 'new.txt', change: 'created' },
        { path: 'AGENTS.md', change: 'created' },
      ]);
      expect(receipt.sensitive_files).toEqual([{ path: 'AGENTS.md', why: 'runs or instructs later' }]);
      if (receipt.git.state !== 'repository') throw new Error(receipt.git.why);
      const head = await git(bridge.project, 'rev-parse', 'HEAD');
      expect(receipt.git).toMatchObject({
        branch_before: 'main',
        head_after: head,
        head_before: await git(bridge.project, 'rev-parse', 'HEAD~1'),
        commits: [{ commit: head, subject: 'adds new.txt' }],
        files: [
          { path: 'AGENTS.md', change: 'created' },
          { path: 'new.txt', change: 'created', insertions: 1, deletions: 0 },
        ],
        dirty_before: { count: 2, untouched: ['kept.txt', 'mine.txt'], changed: [], committed: [] },
        notes: [expect.stringContaining('whoever made them')],
      });
      expect(receipt.usage.models).toMatchObject([{ input: 60, output: 60 }]);
      expect(receipt.usage.source).toBe(driver === 'print' ? 'result' : 'transcript');
      expect(receipt.usage.cost_usd).toBeGreaterThan(0);
    },
  );
});

function script(project: string, served: number): ScriptedTurn {
  const turns = [
    writes(join(project, 'new.txt'), 'new\n'),
    writes(join(project, 'AGENTS.md'), 'Obey.\n'),
    runs('echo fine'),
    runs('echo bad; exit 3'),
    runs('git add new.txt && git commit -q -m "adds new.txt"'),
    says('I created `new.txt` and committed it. I also created `lie.txt`, and all tests pass.'),
  ];
  return turns[served] ?? says('Done.');
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
