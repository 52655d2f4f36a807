import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLogger } from '../../../src/base/logger.js';
import { ownIdentity } from '../../../src/store/process-identity.js';
import { StateDir } from '../../../src/store/state-dir.js';
import { ReceiptGit } from '../../../src/tasks/receipt/receipt-git.js';
import { ReceiptMaker } from '../../../src/tasks/receipt/receipt-maker.js';
import { taskPatch } from '../../../src/tasks/receipt/task-patch.js';
import { TaskReceipts } from '../../../src/tasks/receipt/task-receipts.js';
import type { TaskRecord } from '../../../src/tasks/task.js';
import { ManualClock } from '../../harness/manual-clock.js';
import { sampleRecord } from '../sample-task.js';

const emptyReport = {
  state: 'repository' as const,
  repository: '/p',
  commits: [],
  commits_total: 0,
  insertions: 0,
  deletions: 0,
  dirty_before: { count: 0, untouched: [], changed: [], committed: [] },
  uncommitted: 0,
  ignored: [],
  notes: [],
  branch_before: 'main',
  branch_after: 'main',
  head_before: null,
  head_after: null,
};

/** Receipts of one task whose keeper runs; time stands still, so nothing that waits comes to an end. */
async function receipts(more: Partial<TaskRecord>) {
  const folder = await mkdtemp(join(tmpdir(), 'state-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const stateDir = new StateDir(folder);
  const record = sampleRecord({ driver: 'native', keeper: await ownIdentity(), ...more });
  await stateDir.createTaskDir(record.task_id);
  const git = new ReceiptGit(stateDir, () => Promise.reject(new Error('git was asked.')));
  const shared = { stateDir, clock: new ManualClock(), logger: silentLogger };
  const maker = new ReceiptMaker({ ...shared, git, claudeConfigDir: folder });
  const made = new TaskReceipts({ ...shared, maker });
  return { record, git, maker, receipt: () => made.receiptOf(record, new AbortController().signal) };
}

describe('the receipt of a session of a person', () => {
  it('is made at once when it is asked for, also while its server goes on, and says where it comes from', async () => {
    const { receipt } = await receipts({ status: 'completed', final_message: 'I made the commit.' });
    const made = await receipt();
    expect(made?.notes).toContain(
      "This session was its person's: the receipt is made of what the bridge saw.",
    );
    expect(made).toMatchObject({
      complete: true,
      git: { state: 'unknown', why: 'Sessions of people are not compared with git.' },
    });
    expect(JSON.stringify(made?.notes)).not.toContain('keeper');
    expect(await receipt()).toEqual(made);
  });

  it('is incomplete when its server crashed, and there is none while it runs', async () => {
    const crashed = await receipts({ status: 'error' });
    expect(await crashed.receipt()).toMatchObject({ complete: false });
    expect(await (await receipts({ status: 'running' })).receipt()).toBeUndefined();
  });

  it('has no patch, with the reason', async () => {
    const { record, git } = await receipts({ status: 'running' });
    await expect(taskPatch(record, (one) => git.report(one))).rejects.toMatchObject({
      code: 'NOT_A_REPOSITORY',
      message: 'Sessions of people are not compared with git.',
    });
  });
});

it('of a worktree shows git as it was at the end where git cannot be read now, and says so', async () => {
  const tree = 'a'.repeat(40);
  const worktree = {
    project_path: '/p',
    repository: '/p',
    path: '/p/.claude/worktrees/t',
    branch: 'claude/t',
    base_commit: 'b'.repeat(40),
    notes: [],
  };
  const { record, maker } = await receipts({ driver: 'print', status: 'completed', worktree });
  const ended = await maker.make(record, true);
  const seen = {
    ...emptyReport,
    tree,
    files: [{ path: '.env', change: 'created' as const }],
    files_total: 1,
  };
  const sensitive = [{ path: '.env', why: 'holds secrets by its name' as const }];
  const shown = await maker.asNow({ ...ended, git: seen, sensitive_files: sensitive }, record);
  expect(shown).toMatchObject({ git: { state: 'repository', tree }, sensitive_files: sensitive });
  expect(shown.notes.at(-1)).toBe(
    'git is shown as it was when the task ended. git was asked. Call again to see what is in the worktree now.',
  );
});
