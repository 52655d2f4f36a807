import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { identityOf } from '../../src/store/process-identity.js';
import { systemClock } from '../../src/base/system-clock.js';
import { writeJsonFileAtomically } from '../../src/base/files/json-file.js';
import { BridgeError } from '../../src/base/errors.js';
import { silentLogger } from '../../src/base/logger.js';
import { ProjectLocks } from '../../src/store/project-lock.js';
import { openStateDir } from '../../src/store/state-dir.js';
import { TaskFinisher, type TaskFinisherOptions } from '../../src/tasks/task-finisher.js';
import { isFinal, taskRecordSchema, type TaskRecord } from '../../src/tasks/task.js';
import type { WorktreeFinisher } from '../../src/tasks/worktree-maker.js';
import type { GitReport } from '../../src/tasks/receipt/receipt.js';
import { refusal } from '../harness/refusal.js';
import {
  sampleGitReport,
  sampleReceipt,
  sampleRecord,
  sampleWorktree,
  TASK_ID as TASK,
} from './sample-task.js';
import { tempFolder } from '../harness/temp-folder.js';

const { signal } = new AbortController();
const TREE = 'd'.repeat(40);
const worktree = sampleWorktree();

const keeper = { pid: 1, start_time: '1', boot_id: 'b' };

function record(facts: Partial<TaskRecord>): TaskRecord {
  const { path: project_path } = worktree;
  return sampleRecord({ project_path, keeper, status: 'completed', worktree, ...facts });
}

const untouched = (): Promise<never> => Promise.reject(new Error('git was asked'));

async function finisher(
  first: TaskRecord,
  answer: WorktreeFinisher['finish'],
  undo: TaskFinisherOptions['undo'] = untouched,
  others: readonly TaskRecord[] = [first],
) {
  const folder = await tempFolder();
  const stateDir = await openStateDir({ path: join(folder, 'state') });
  await stateDir.createTaskDir(TASK);
  const file = stateDir.recordFile(TASK);
  await writeJsonFileAtomically(file, first);
  const another = (): TaskFinisher =>
    new TaskFinisher({
      stateDir,
      clock: systemClock,
      logger: silentLogger,
      tasks: {
        // As its keeper tells it, until its end is on disk.
        get: async () => {
          const now = taskRecordSchema.parse(JSON.parse(await readFile(file, 'utf8')));
          return isFinal(now.status) ? now : first;
        },
        list: () => Promise.resolve({ tasks: others }),
      },
      worktrees: { finish: answer },
      undo,
    });
  const locks = new ProjectLocks(stateDir.lockDir, systemClock, () => undefined);
  return { service: another(), another, file, locks };
}

describe('finishing a task', () => {
  it.each(['merge', 'apply'] as const)(
    'says at %s that another task works where the work comes',
    async (action) => {
      const done = { result: 'c'.repeat(40), tree: TREE, notes: [] };
      const { service, locks } = await finisher(record({}), () => Promise.resolve(done));
      await locks.acquire({ projectPath: '/p', taskId: 'task_2' });
      const { notes } = await service.finish({ taskId: TASK, action, reviewed: TREE, signal });
      expect(notes).toEqual([
        'Task task_2 works in the project: it may change the same files, and an undo of it takes these changes back, too.',
      ]);
      expect(await service.worksBeside(record({}), 'discard')).toBeUndefined();
    },
  );

  it('waits until the keeper of the task has left, which writes the record until then', async () => {
    const keeper = spawn('sleep', ['60'], { stdio: 'ignore' });
    const exited = once(keeper, 'exit');
    onTestFinished(() => void keeper.kill('SIGKILL'));
    await once(keeper, 'spawn');
    const identity = (await identityOf(keeper.pid ?? 0)) ?? null;
    const ended = record({ keeper: identity, reason: 'as told over its socket' });
    const asked: string[] = [];
    const { service, file } = await finisher(ended, async () => {
      asked.push('git');
      return { result: 'c'.repeat(40), tree: TREE, notes: [] };
    });
    // What it has told is not on disk yet.
    await writeJsonFileAtomically(file, { ...ended, status: 'running' });
    const finishing = service.finish({ taskId: TASK, action: 'merge', reviewed: TREE, signal });
    await new Promise(setImmediate);
    expect(asked).toEqual([]);
    await writeJsonFileAtomically(file, { ...ended, reason: 'as written last' });
    keeper.kill('SIGKILL');
    await exited;
    expect((await finishing).record).toMatchObject({
      reason: 'as written last',
      worktree: { finished: { action: 'merge' } },
    });
    expect(asked).toEqual(['git']);
  });

  it('is refused for a task whose end is not on disk, and done once by two servers at once', async () => {
    const merge = { taskId: TASK, action: 'merge', reviewed: TREE, signal } as const;
    let merges = 0;
    const { service, another, file } = await finisher(record({}), async () => {
      merges++;
      return { result: 'c'.repeat(40), tree: TREE, notes: [] };
    });
    await writeJsonFileAtomically(file, record({ status: 'running' }));
    expect(await refusal(service.finish(merge))).toMatch(/^TASK_ALREADY_RUNNING: .* its keeper still writes/);
    await writeJsonFileAtomically(file, record({}));
    const both = await Promise.allSettled([service.finish(merge), another().finish(merge)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(merges).toBe(1);
  });

  it('is done once for a request, also by another server, and is the same answer; another request is told what was done', async () => {
    const merge = { taskId: TASK, action: 'merge', reviewed: TREE, signal } as const;
    let merges = 0;
    const { service, another } = await finisher(record({}), async () => {
      merges++;
      return { result: 'c'.repeat(40), tree: TREE, notes: ['It was merged.'] };
    });
    const asked = { ...merge, requestId: 'mine' };
    const all = await Promise.all([service.finish(asked), another().finish(asked), service.finish(asked)]);
    for (const { record: ended, notes } of [...all, await another().finish(asked)])
      expect([ended.worktree?.finished?.action, notes]).toEqual(['merge', ['It was merged.']]);
    expect(merges).toBe(1);
    expect(await refusal(another().finish({ ...merge, requestId: 'yours' }))).toMatch(
      /^INVALID_ARGUMENTS: Task \S+ was finished already/,
    );
    expect(await refusal(another().finish({ ...asked, action: 'discard' }))).toMatch(
      /^INVALID_ARGUMENTS: This request_id was used for a call with other arguments/,
    );
  });

  it('is not done again for a request whose server died in the middle of it: the record says that it was done, else no one knows', async () => {
    const asked = { taskId: TASK, action: 'merge', reviewed: TREE, signal, requestId: 'mine' } as const;
    let merges = 0;
    const { service, another, file } = await finisher(record({}), async (_worktree, { onBegin }) => {
      merges++;
      await onBegin?.();
      // As by a disk that fails when the record is to be written.
      throw new BridgeError('STATE_UNUSABLE', 'The disk is full.', '');
    });
    expect(await refusal(service.finish(asked))).toMatch(/^STATE_UNUSABLE/);
    expect(await refusal(another().finish(asked))).toMatch(
      /^OUTCOME_UNKNOWN: The server that began to merge \S+ for this request_id was killed in the middle of it/,
    );
    const at = new Date().toISOString();
    const finished = { action: 'merge', at, result: 'c'.repeat(40), tree: TREE } as const;
    await writeJsonFileAtomically(file, record({ worktree: { ...worktree, finished } }));
    expect((await another().finish(asked)).record).toMatchObject({ worktree: { finished } });
    expect(merges).toBe(1);
  });

  it('is refused while a task works in the worktree, without one, and a second time', async () => {
    const never: WorktreeFinisher['finish'] = () => Promise.reject(new Error('git was asked'));
    const finish = async (one: TaskRecord): Promise<string> => {
      const { service } = await finisher(one, never);
      return refusal(service.finish({ taskId: TASK, action: 'discard', signal }));
    };
    expect(await finish(record({ status: 'waiting' }))).toMatch(/^TASK_ALREADY_RUNNING: .* it is waiting/);
    const { service, locks } = await finisher(record({}), never);
    await locks.acquire({ projectPath: `${worktree.path}/sub`, taskId: 'task_2' });
    expect(await refusal(service.finish({ taskId: TASK, action: 'discard', signal }))).toMatch(
      /^TASK_ALREADY_RUNNING: Task task_2 still works in the worktree/,
    );
    expect(await finish(record({ worktree: undefined, project_path: '/p' }))).toMatch(
      /^INVALID_ARGUMENTS: .*not in a worktree/,
    );
    // It went on in the worktree of another task.
    expect(await finish(record({ worktree: undefined, task_id: `task_${'b'.repeat(20)}` }))).toContain(
      `went on in the worktree of ${TASK}: the work of both is finished by that id`,
    );
    const finished = { action: 'apply', at: 'then', result: '' } as const;
    expect(await finish(record({ worktree: { ...worktree, finished } }))).toMatch(
      /^INVALID_ARGUMENTS: .*finished already: applied at then, without work\./,
    );
  });
});

describe('work that does not meet its checks', () => {
  const checkOf = (name: string, verdict: 'met' | 'not met' | 'not run', why?: string) => ({
    ...{ name, command: name, verdict },
    ...(why !== undefined && { why }),
  });
  const checked = {
    ...{ rounds: 0, tree: TREE },
    results: [
      checkOf('unit', 'met'),
      checkOf('lint', 'not met', 'exit code 1'),
      checkOf('e2e', 'not run', 'no sandbox'),
    ],
  };
  const finishing = (others?: readonly TaskRecord[]) => {
    const asked: unknown[] = [];
    const answer: WorktreeFinisher['finish'] = async (_, { note }) => {
      asked.push(note);
      return { result: 'c'.repeat(40), tree: TREE, notes: [] };
    };
    return { asked, made: finisher(record({ checked }), answer, untouched, others) };
  };

  it.each(['merge', 'apply'] as const)('is refused by %s, with the checks and what to do', async (action) => {
    const { made, asked } = finishing();
    const { service } = await made;
    const query = { taskId: TASK, action, reviewed: TREE, signal };
    expect(await refusal(service.finish(query))).toBe(
      `INVALID_ARGUMENTS: 1 of 3 checks met: lint: not met, exit code 1; e2e: not run, no sandbox. Nothing was changed. Go on from it with start_task and continue_from ${TASK}. To bring the work in all the same: anyway: true, or --anyway in a terminal. The message of the merge then names these checks.`,
    );
    expect(asked).toEqual([]);
    const { notes } = await service.finish({ ...query, anyway: true });
    const note = 'Checks not met: lint (exit code 1), e2e (not run: no sandbox)';
    expect(asked).toEqual([note]);
    expect(notes).toEqual([`${note}.`]);
  });

  it('is discarded without a question', async () => {
    const { made, asked } = finishing();
    await (await made).service.finish({ taskId: TASK, action: 'discard', signal });
    expect(asked).toEqual([undefined]);
  });

  it('is brought in once the task that went on in its worktree meets them', async () => {
    const met = { rounds: 0, tree: TREE, results: [checkOf('unit', 'met')] };
    const later = record({ task_id: `task_${'b'.repeat(20)}`, worktree: undefined, checked: met });
    const { made, asked } = finishing([later, record({ checked })]);
    await (await made).service.finish({ taskId: TASK, action: 'merge', reviewed: TREE, signal });
    expect(asked).toEqual([undefined]);
  });
});

describe('work whose checks were met on another state', () => {
  const results = [{ name: 'unit', command: 'unit', verdict: 'met' as const }];

  it('is refused, and named where it is brought in anyway', async () => {
    const checked = { rounds: 0, results, tree: 'a'.repeat(40) };
    const notes: unknown[] = [];
    const { service } = await finisher(record({ checked }), async (_, { note }) => {
      notes.push(note);
      return { result: 'c'.repeat(40), tree: TREE, notes: [] };
    });
    const query = { taskId: TASK, action: 'merge', reviewed: TREE, signal } as const;
    const why = 'it was met on another state (tree aaaaaaaaaa) than the one that comes in (dddddddddd)';
    expect(await refusal(service.finish(query))).toContain(`0 of 1 check met: unit: not run, ${why}.`);
    await service.finish({ ...query, anyway: true });
    expect(notes).toEqual([`Checks not met: unit (not run: ${why})`]);
  });

  it('is brought in where that state was reviewed', async () => {
    const checked = { rounds: 0, results, tree: TREE };
    const { service } = await finisher(record({ checked }), async (_, { note }) => {
      expect(note).toBeUndefined();
      return { result: 'c'.repeat(40), tree: TREE, notes: [] };
    });
    await service.finish({ taskId: TASK, action: 'merge', reviewed: TREE, signal });
  });
});

describe('the undo of a task in a shared folder', () => {
  const shared = record({ worktree: undefined, project_path: '/p' });
  const START = 'e'.repeat(40);
  const kept = sampleGitReport({
    start_tree: START,
    tree: TREE,
    files: [{ path: 'a.txt', change: 'changed' }],
    files_total: 1,
    commits: [{ commit: 'f'.repeat(40), author: 'N', date: '', subject: 's' }],
    commits_total: 1,
  });

  async function undoing(git: GitReport | undefined, one: TaskRecord = shared) {
    const asked: unknown[] = [];
    const during: (() => Promise<unknown>)[] = [];
    const made = await finisher(one, untouched, async (query) => {
      asked.push(query);
      for (const act of during) asked.push(await act());
      return { files: ['a.txt'], left: ['Submodules stay as they are: m.'] };
    });
    const receipt = git === undefined ? {} : sampleReceipt({ git });
    await writeJsonFileAtomically(join(dirname(made.file), 'receipt.json'), receipt);
    const undo = (reviewed?: string) =>
      made.service.finish({ taskId: TASK, action: 'undo', reviewed, signal });
    return { ...made, asked, during, undo };
  }

  it('takes back what was reviewed, says what stays, and writes that into the record', async () => {
    const { undo, asked, file } = await undoing(kept);
    const { record: undone, notes } = await undo(TREE);
    const objects = join(dirname(file), 'objects');
    expect(asked).toEqual([{ repository: kept.repository, start: START, end: TREE, objects }]);
    expect(notes.join(' ')).toBe(
      '1 file taken back: a.txt. Commits stay (ffffffffff). A file of them that was taken back is now a change that is not committed: commit it, or bring the committed file back with git restore. Submodules stay as they are: m. Ignored files stay as they are. To have all of it again, while the task is not removed: ' +
        `GIT_ALTERNATE_OBJECT_DIRECTORIES=${objects} git -C ${kept.repository} restore --source=${TREE} -- a.txt`,
    );
    expect(taskRecordSchema.parse(JSON.parse(await readFile(file, 'utf8')))).toEqual(undone);
    expect(undone.undone_at).toMatch(/^\d{4}-/);
  });

  it('holds the project meanwhile: no task begins there, and none that has begun is overlooked', async () => {
    const { undo, locks, asked, during } = await undoing(kept);
    const taken = await locks.acquire({ projectPath: '/p', taskId: 'task_2' });
    expect(await refusal(undo(TREE))).toMatch(
      /^TASK_ALREADY_RUNNING: Task task_2 still works there[^]*kill_task task_2\./,
    );
    expect(asked).toEqual([]);
    if ('held' in taken) taken.held.release();
    during.push(() => locks.acquire({ projectPath: '/p/sub', taskId: 'task_3' }));
    await undo(TREE);
    expect(asked).toMatchObject([{ end: TREE }, { busy: { task_id: TASK } }]);
    expect((await locks.table()).held).toEqual([]);
  });

  it.each<[string, GitReport | undefined, TaskRecord | undefined, RegExp]>([
    [
      'nothing was reviewed',
      kept,
      undefined,
      /^INVALID_ARGUMENTS: Undo takes back 1 file \(a\.txt\): .*whoever did it.* reviewed "d{40}"/,
    ],
    ['its end was not kept', { ...kept, tree: undefined }, undefined, /^WORK_DOES_NOT_FIT: .*not kept/],
    ['there is no receipt', undefined, undefined, /^WORK_DOES_NOT_FIT: .*not kept/],
    [
      'there is no repository',
      { state: 'none', why: 'No repository.' },
      undefined,
      /^NOT_A_REPOSITORY: No repository\./,
    ],
    [
      'it was finished',
      kept,
      record({ worktree: { ...worktree, finished: { at: 'now', action: 'apply', result: '' } } }),
      /^INVALID_ARGUMENTS: .* was finished already: applied at now, without work\./,
    ],
    ['it worked in a worktree', kept, record({}), /^INVALID_ARGUMENTS: .* works in a worktree.*discard/],
    ['a session of a person is meant', kept, record({ ...shared, driver: 'native' }), /^INVALID_ARGUMENTS: /],
  ])('is refused where %s, before git is asked', async (_, git, one, why) => {
    const { undo, asked } = await undoing(git, one);
    expect(await refusal(undo())).toMatch(why);
    expect(asked).toEqual([]);
  });

  it('a merge of it is refused, and offers the undo only in a repository', async () => {
    const merge = { taskId: TASK, action: 'merge', signal } as const;
    const outside = await undoing({ state: 'none', why: 'No repository.' });
    expect(await refusal(outside.service.finish(merge))).toMatch(
      /outside of any git repository: .*there already.*\. Nothing was changed\. The receipt/,
    );
    const inside = await undoing(kept);
    expect(await refusal(inside.service.finish(merge))).toContain('"undo" takes back what it changed');
  });
});
