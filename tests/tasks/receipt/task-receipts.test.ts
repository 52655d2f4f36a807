import { mkdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { taskPatch } from '../../../src/tasks/receipt/task-patch.js';
import { isUndoable, type GitReport } from '../../../src/tasks/receipt/receipt.js';
import { refusal } from '../../harness/refusal.js';
import { sampleGitReport, sampleRecord, sampleWorktree } from '../sample-task.js';
import { receiptPlace } from './receipt-place.js';
import { tempFolder } from '../../harness/temp-folder.js';

it('the receipt of a session of a person is made when it is asked for, and says where it comes from', async () => {
  const git = { state: 'unknown', why: 'Sessions of people are not compared with git.' };
  const { receipt } = await receiptPlace({ final_message: 'I made the commit.' });
  const made = await receipt();
  expect(made).toMatchObject({
    complete: true,
    git,
    notes: [expect.stringContaining('of what the bridge saw')],
  });
  expect(await receipt()).toEqual(made);
  // Its server crashed.
  expect(await (await receiptPlace({ status: 'error' })).receipt()).toMatchObject({ complete: false });
  const running = await receiptPlace({ status: 'running' });
  expect(await running.receipt()).toBeUndefined();
  expect(await refusal(running.changes.patchOf(running.record))).toContain(`NOT_A_REPOSITORY: ${git.why}`);
});

it('the receipt of a task whose folder is gone says so, until the folder is back', async () => {
  const project = await tempFolder();
  await rmdir(project);
  const { receipt } = await receiptPlace({ driver: 'interactive', project_path: project });
  const note = `The folder ${project} is no longer there.`;
  expect((await receipt())?.notes).toContain(note);
  await mkdir(project);
  onTestFinished(() => rmdir(project));
  expect((await receipt())?.notes).not.toContain(note);
});

describe('the patch of a task in a shared folder', () => {
  const [start_tree, tree] = ['1'.repeat(40), '2'.repeat(40)];
  const files = [{ path: 'a', change: 'changed' as const }];
  const patchOf = (more: Partial<Extract<GitReport, { state: 'repository' }>>) =>
    taskPatch(sampleRecord({}), async () => sampleGitReport({ files, files_total: 1, ...more }), '/objects');

  it('goes from the files of its start to those of its end, and says that others may have made it', async () => {
    expect(await patchOf({ start_tree, tree })).toMatchObject({
      query: { base: start_tree, end: tree, objects: '/objects' },
      notes: [expect.stringContaining('whoever did it')],
      tree,
    });
    expect(await patchOf({ start_tree, tree: start_tree })).toMatchObject({ state: 'nothing' });
  });

  it('says that it was undone, and then no second undo is offered', async () => {
    const git = sampleGitReport({ start_tree, tree, files, files_total: 1 });
    const undone = sampleRecord({ undone_at: '2026-01-02T03:04:05.000Z' });
    expect(await taskPatch(undone, async () => git, '/objects')).toMatchObject({
      notes: { 1: 'What it changed was undone at 2026-01-02T03:04:05.000Z; new files stayed.' },
    });
    expect(isUndoable(undone, { git })).toBe(false);
    expect(isUndoable(sampleRecord({}), { git })).toBe(true);
    // New files stay.
    const made = [{ path: 'a', change: 'created' as const }];
    expect(isUndoable(sampleRecord({}), { git: { ...git, files: made } })).toBe(false);
  });

  it('goes to the files on the disk while it runs, and from HEAD where nothing was kept', async () => {
    const running = await patchOf({ start_tree, uncommitted: 1 });
    expect(running).toMatchObject({ query: { base: start_tree, files: ['a'], objects: '/objects' } });
    expect(running).not.toHaveProperty('query.end');
    const dirty_before = { count: 1, untouched: [], changed: ['a'], committed: [] };
    const old = await patchOf({ head_before: 'b'.repeat(40), dirty_before });
    expect(old).toMatchObject({ query: { base: 'b'.repeat(40) } });
    expect(old).toMatchObject({
      notes: { 1: expect.stringContaining('uncommitted changes before the task') as unknown },
    });
    expect(old).not.toHaveProperty('query.objects');
  });
});

it('of a worktree shows git as it was at the end where git cannot be read now, and says so', async () => {
  const tree = 'a'.repeat(40);
  const { record, receipt, stateDir } = await receiptPlace({ driver: 'print', worktree: sampleWorktree() });
  await receipt();
  const file = join(stateDir.taskDir(record.task_id), 'receipt.json');
  const files = [{ path: '.env', change: 'created' as const }];
  const git = sampleGitReport({ tree, files, files_total: 1 });
  const sensitive_files = [{ path: '.env', why: 'holds secrets by its name' }];
  const ended: object = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...ended, git, sensitive_files }));
  const shown = await receipt();
  expect(shown).toMatchObject({ git: { state: 'repository', tree }, sensitive_files });
  expect(shown?.notes.at(-1)).toMatch(
    /^git is shown as it was when the task ended\. .* Try again to see what is in the worktree now\.$/,
  );
});
