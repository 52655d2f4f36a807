import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { receiptSchema, type Receipt } from '../../../src/tasks/receipt/receipt.js';
import { repository, writeFiles } from '../../harness/project-files.js';
import { describeNewestClaude, drivers } from '../../harness/real-claude.js';
import { runs } from '../../harness/scripted-turns.js';
import { startBridge, type TestBridge } from '../../harness/start-bridge.js';
import { createWorkplace } from '../../harness/workplace.js';

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
      git: {
        files: [{ path: 'new.txt', change: 'created' }],
        notes: [/whoever made them/, /^They were read at .*, and not when the task ended \(20/].map(
          (words) => expect.stringMatching(words) as unknown,
        ),
      },
    });
    // The lock of a dead keeper is taken over by the next task.
    await bridge.end(await bridge.start({ prompt: 'exit 0\n' }));
  });
});

describeNewestClaude('the receipt of a session that was killed', ({ binary }) => {
  it.each(drivers)('has the command that ran when the keeper was gone: %s', async (driver) => {
    const workplace = await createWorkplace();
    const record = `$(cat ${workplace.stateDir}/tasks/*/record.json)`;
    const killsKeeper = `r=${record}; r=\${r#*'"keeper":'}; r=\${r#*'"pid":'}; kill -KILL \${r%%,*}`;
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: killsKeeper }] }] };
    const command = 'touch ran; tail -f /dev/null';
    const bridge = await startBridge({
      claude: binary,
      workplace,
      script: [runs(command)],
      userSettings: { hooks },
    });
    const id = await bridge.start({ driver });
    expect(await bridge.end(id)).toMatchObject({ status: 'error' });
    const { commands, usage } = await receiptOf(bridge, id);
    expect(commands).toMatchObject([{ command }]);
    expect(usage).toMatchObject({ models: [{ output: 10 }], cost_usd: 'unknown' });
  });

  it.each(drivers)('has no cost that Claude Code did not tell: %s', async (driver) => {
    // Its transcript has the message, and its status line mostly not yet.
    const command = 'until grep -q PPID ~/.claude/projects/*/*.jsonl; do :; done; kill -KILL $PPID';
    const bridge = await startBridge({ claude: binary, script: [runs(command)] });
    const id = await bridge.start({ driver });
    expect(await bridge.end(id)).toMatchObject({ status: 'failed' });
    const { usage } = await receiptOf(bridge, id);
    expect(usage.models).toMatchObject([{ output: 10 }]);
    expect(usage.cost_usd).not.toBe(0);
  });
});
