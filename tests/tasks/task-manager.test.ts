import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system-clock.js';
import { BridgeError } from '../../src/base/errors.js';
import { createTaskId } from '../../src/base/ids.js';
import { ALL_MODES, type ModeSettings } from '../../src/approvals/modes.js';
import { silentLogger } from '../../src/base/logger.js';
import { AllowedRoots } from '../../src/projects/allowed-roots.js';
import { goneNote } from '../../src/store/pages.js';
import { openStateDir, type StateDir } from '../../src/store/state-dir.js';
import { TaskManager, type TaskManagerOptions } from '../../src/tasks/task-manager.js';
import { taskSpecSchema } from '../../src/tasks/task-spec.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import type { OutputPage, StartTask } from '../../src/tasks/task-service.js';
import { MemoryHost } from './memory-host.js';
import { sampleRecord, sampleSpec, sampleWorktree } from './sample-task.js';
import { branchName, type WorktreeMaker } from '../../src/tasks/worktree-maker.js';
import { refusal } from '../harness/refusal.js';
import { until } from '../harness/until.js';
import { tempFolder } from '../harness/temp-folder.js';

let folder: string;
let stateDir: StateDir;
let host: MemoryHost;
let managers: TaskManager[];

beforeEach(async () => {
  folder = await tempFolder();
  for (const name of ['a', 'b', 'c']) await mkdir(join(folder, 'p', name), { recursive: true });
  stateDir = await openStateDir({ path: join(folder, 'state') });
  host = new MemoryHost(stateDir);
  managers = [];
});
afterEach(() => {
  for (const manager of managers) manager.dispose();
});

/** A server's view of the same tasks. */
function manager({
  limit = 10,
  modes,
  history,
  ...more
}: Partial<Pick<TaskManagerOptions, 'worktrees' | 'modesNow'>> & {
  readonly limit?: number;
  readonly modes?: ModeSettings;
  readonly history?: Partial<TaskManagerOptions['history']>;
} = {}): TaskManager {
  const { claude_command: _, ...settings } = sampleSpec().settings;
  const made = new TaskManager({
    stateDir,
    host,
    clock: systemClock,
    logger: silentLogger,
    roots: new AllowedRoots([join(folder, 'p')], folder),
    findInstallation: async () => ({ command: ['/usr/bin/claude'], isClaude: true }),
    endMarked: async () => 0,
    settings: { ...settings, default_timeout_seconds: 60, max_concurrent_tasks: limit, modes },
    history: { task_history_size: 100, task_history_days: 90, task_history_bytes: 2e9, ...history },
    ...more,
  });
  managers.push(made);
  return made;
}

function start(tasks: TaskManager, project: string, more: Partial<StartTask> = {}): Promise<TaskRecord> {
  return tasks.start({ prompt: 'Do it.', path: join(folder, 'p', project), onConflict: 'queue', ...more });
}

async function end(tasks: TaskManager, taskId: string): Promise<void> {
  // Whichever server was faster started it.
  await until('it has started', () => expect(host.launched).toContain(taskId));
  await host.end(taskId, 'completed', 'Done.');
  await tasks.advanceQueue();
}

/** A task that waits for a project which is free by now, without a server. */
async function leftInQueue(more: Partial<StartTask> = {}): Promise<TaskRecord> {
  const tasks = manager();
  const first = await start(tasks, 'a');
  const second = await start(tasks, 'a', more);
  tasks.dispose();
  await host.end(first.task_id, 'completed', 'Done.');
  return second;
}

it('no task starts in a project that contains the state directory, and nothing is left of it', async () => {
  stateDir = await openStateDir({ path: join(folder, 'p', 'a', '.st') });
  expect(await refusal(start(manager(), 'a'))).toContain(
    `contains the state directory of the bridge, ${stateDir.path}`,
  );
  expect(await stateDir.listTaskIds()).toEqual([]);
});

describe('the tasks of a user', () => {
  /** A task that has ended, with a recording, a journal, and its two files in the project. */
  async function ended(project: string, more: Partial<TaskRecord> = {}): Promise<TaskRecord> {
    const task_id = createTaskId(Date.now());
    const project_path = join(folder, 'p', project);
    const logs = join(project_path, '.claude', 'mcp-logs');
    await stateDir.createTaskDir(task_id);
    await mkdir(logs, { recursive: true });
    const record = sampleRecord({ task_id, project_path, status: 'completed', ...more });
    await writeFile(stateDir.recordFile(task_id), JSON.stringify(record));
    await writeFile(stateDir.recordingFile(task_id), 'r'.repeat(5_000));
    await writeFile(stateDir.journalFile(task_id), 'j'.repeat(500));
    await writeFile(stateDir.promptFile(task_id), `the secret of ${task_id}`);
    for (const name of [`${task_id}.prompt.md`, 'current_task_prompt.md'])
      await writeFile(join(logs, name), `the secret of ${task_id}`);
    await writeFile(join(logs, `${task_id}.log`), 'the log');
    return record;
  }

  it('are pruned to the number asked for, and the answers of conversations to 200; sessions of people count apart', async () => {
    const ended_at = new Date().toISOString();
    const finished = async (purpose: 'task' | 'ask', driver: 'interactive' | 'native' = 'interactive') => {
      const record = sampleRecord({
        task_id: createTaskId(Date.now()),
        purpose,
        driver,
        status: 'completed',
        ended_at,
      });
      await mkdir(join(stateDir.tasksDir, record.task_id));
      await writeFile(stateDir.recordFile(record.task_id), JSON.stringify(record));
      return record;
    };
    // One that has ended before the others are counted stays, and takes a place of its kind alone.
    const started = await finished('task');
    const old = await ended('a', { ended_at: '2020-01-01T00:00:00.000Z' });
    expect((await manager().prune()).removed).toMatchObject([{ task_id: old.task_id }]);
    for (let number = 0; number < 203; number++) await finished('ask');
    for (let number = 0; number < 5; number++) await finished('task');
    for (let number = 0; number < 22; number++) await finished('task', 'native');
    const { removed } = await manager().prune(2, started);
    expect(removed.map(({ task_id }) => task_id)).not.toContain(started.task_id);
    expect(removed.filter(({ driver }) => driver === 'native')).toHaveLength(20);
    expect(removed.filter(({ purpose }) => purpose === 'ask')).toHaveLength(3);
    expect(removed).toHaveLength(27);
  });

  it('start in a worktree whose branch has the words of the prompt, also in a free project where that is asked for', async () => {
    const made: unknown[] = [];
    const worktrees: WorktreeMaker = {
      create: async (project, name) => {
        made.push(name);
        return { folder: project, worktree: { ...sampleWorktree(), branch: name.branch } };
      },
      removeUnlessWork: async () => true,
    };
    const tasks = manager({ worktrees });
    const words = {
      prompt: 'Fix  the LOGIN, größer — ($rm) and much more than fits into the name of a branch.',
    };
    const { task_id, worktree: given } = await start(tasks, 'a', { ...words, onConflict: 'always_worktree' });
    expect(given?.branch).toBe(`claude/fix-the-login-gro-er-rm-and-much-more-${task_id.slice(-6)}`);
    expect(made).toEqual([{ taskId: task_id, branch: given?.branch }]);
    expect(branchName('task_0123456789abcdef0123', '直せ')).toBe('claude/task-ef0123');
    expect(
      await refusal(start(tasks, 'b', { onConflict: 'always_worktree', continueFrom: task_id })),
    ).toMatch(/^INVALID_ARGUMENTS: .*'always_worktree'/);
    await host.end(task_id, 'completed', 'Done.');
    const ended = await tasks.get(task_id);
    await writeFile(stateDir.recordFile(task_id), JSON.stringify({ ...ended, session_id: randomUUID() }));
    expect(await refusal(tasks.message(task_id, { text: 'more' }))).toContain(
      `Go on from it with start_task and continue_from ${task_id}.`,
    );
  });

  it('go on in the folder of the task that they continue, and are refused where it is gone', async () => {
    const tasks = manager();
    const folderOf = (name: string) => join(folder, 'p', name);
    const before = await start(tasks, 'a');
    await host.end(before.task_id, 'completed', 'Done.');
    const ended = await tasks.get(before.task_id);
    const write = (changes: Partial<TaskRecord>) =>
      writeFile(
        stateDir.recordFile(ended.task_id),
        JSON.stringify({ ...ended, session_id: randomUUID(), ...changes }),
      );
    await write({ permission_mode: 'cautious' });
    const goOn = { path: undefined, continueFrom: ended.task_id };
    expect(await start(tasks, '', goOn)).toMatchObject({
      project_path: folderOf('a'),
      permission_mode: 'cautious',
    });
    expect(await refusal(start(tasks, 'b', { continueFrom: ended.task_id }))).toContain(
      'Give no path to go on there',
    );
    expect(await refusal(start(tasks, '', { path: undefined }))).toMatch(/^INVALID_ARGUMENTS: No folder/);
    const gone = { ...sampleWorktree(folderOf('a')), path: folderOf('w'), branch: 'claude/w' };
    const finished = { action: 'merge', at: new Date().toISOString(), result: '' } as const;
    await write({ project_path: folderOf('w'), worktree: { ...gone, finished } });
    expect(await refusal(start(tasks, '', goOn))).toMatch(
      /^PATH_NOT_FOUND: .* no longer there \(finished with merge\)[^]*in .*\/p\/a,/,
    );
  });

  it('lose recordings before logs, and logs before receipts, when they are too large together; a sentence says so', async () => {
    const now = new Date().toISOString();
    const [one, two] = [await ended('a', { ended_at: now }), await ended('b', { ended_at: now })];
    const tasks = manager({ history: { task_history_bytes: 8_000 } });
    expect(await tasks.historyWords()).toBeUndefined();
    expect(await tasks.prune()).toEqual({ removed: [], withWork: [] });
    const left = await Promise.all([one, two].map(({ task_id }) => readdir(stateDir.taskDir(task_id))));
    expect(left.map((names) => names.includes('journal.ndjson'))).toEqual([true, true]);
    expect(left.filter((names) => names.includes('terminal.cast'))).toHaveLength(1);
    expect(await tasks.historyWords()).toMatch(
      /^Removed from the history at \S+: 1 recording \(task_history_bytes\)\.$/,
    );
    expect(await tasks.historyWords()).toBeUndefined();
    expect((await tasks.list({ limit: 10 })).tasks).toHaveLength(2);
  });

  it('are removed one by one with every file that holds the prompt or the log, and nothing of another task', async () => {
    const other = await ended('a');
    const one = await ended('a', { created_at: new Date().toISOString(), tokens: 5 });
    const tasks = manager();
    await tasks.remove(one.task_id, false);
    // What it used still counts today.
    expect(await readdir(join(stateDir.path, 'spent'))).toHaveLength(1);
    await expect(tasks.get(one.task_id)).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    const logs = join(folder, 'p', 'a', '.claude', 'mcp-logs');
    expect((await readdir(logs)).sort()).toEqual(
      [`${other.task_id}.log`, `${other.task_id}.prompt.md`].sort(),
    );
    expect(await tasks.get(other.task_id)).toMatchObject({ status: 'completed' });
  });

  it('are not removed while they run, and with work in a worktree by force alone', async () => {
    const tasks = manager();
    const { task_id: id } = await start(tasks, 'a');
    expect(await refusal(tasks.remove(id, true))).toContain('only a task that has ended can be removed');
    const one = await ended('a', { worktree: { ...sampleWorktree(), branch: 'claude/x' } });
    await expect(tasks.remove(one.task_id, false)).rejects.toThrow('holds work that only its record names');
    await tasks.remove(one.task_id, true);
    expect(await stateDir.listTaskIds()).toEqual([id]);
  });

  it('have a mode that is allowed in their project, however they start', async () => {
    const modes: ModeSettings = {
      ...ALL_MODES,
      default_permission_mode: 'cautious',
      allowed_permission_modes: ['cautious', 'sandboxed'],
      projects: { [join(folder, 'p', 'b')]: { default_permission_mode: 'sandboxed' } },
    };
    const tasks = manager({ modes });
    for (const more of [{ purpose: 'ask' }, { delegated: true }, { skipPermissions: true }] as const)
      expect(await refusal(start(tasks, 'a', { permissionMode: 'auto', ...more }))).toContain(
        'Allowed: cautious, sandboxed',
      );
    expect(await readdir(stateDir.tasksDir)).toEqual([]);
    const started = [await start(tasks, 'a'), await start(tasks, 'b'), await start(tasks, 'b')];
    expect(started.map(({ status, permission_mode }) => `${status} ${permission_mode}`)).toEqual([
      'running cautious',
      'running sandboxed',
      'pending sandboxed',
    ]);
  });

  it('hold the rows and the modes of the machine that starts them, too', async () => {
    const modes: ModeSettings = { ...ALL_MODES, allowed_permission_modes: ['auto', 'cautious'] };
    const tasks = manager({ modes });
    const row = { rule: 'Bash(git push *)', verdict: 'deny', reason: 'A person pushes.' } as const;
    const limits = { rules: [row], modes: ['cautious', 'sandboxed'] } as const;
    expect(await refusal(start(tasks, 'a', { limits }))).toContain('Allowed: cautious, by the setting');
    const { task_id: id } = await start(tasks, 'a', { limits, permissionMode: 'cautious' });
    const spec = taskSpecSchema.parse(JSON.parse(await readFile(stateDir.specFile(id), 'utf8')));
    expect(spec.allowed_modes).toEqual(['cautious']);
    expect(spec.settings.rules).toEqual([row]);
  });

  it('end where the settings forbid their mode by the time they could start, and wait while those cannot be read', async () => {
    const queued = await leftInQueue({ permissionMode: 'auto' });
    const broken = new BridgeError('CONFIG_ERROR', 'A comma is missing.', '');
    const advanced = async (modesNow: TaskManagerOptions['modesNow']): Promise<TaskRecord> => {
      const later = manager({ modesNow });
      await later.advanceQueue();
      const record = await later.get(queued.task_id);
      later.dispose();
      return record;
    };
    expect(await advanced(() => Promise.reject(broken))).toMatchObject({ status: 'pending' });
    const narrow: ModeSettings = { ...ALL_MODES, allowed_permission_modes: ['cautious'] };
    expect(await advanced(() => Promise.resolve(narrow))).toMatchObject({
      status: 'error',
      reason: expect.stringContaining("permission_mode 'auto' is not allowed") as unknown,
    });
    expect(host.launched).not.toContain(queued.task_id);
  });

  it('run in the order in which they came, whichever server was asked', async () => {
    const [one, two] = [manager({ limit: 1 }), manager({ limit: 1 })];
    const running = await start(one, 'a');
    const queued = [];
    for (const project of ['a', 'a', 'b', 'c'])
      queued.push(await start(two, project, { onConflict: 'queue' }));
    expect(queued.map(({ status }) => status)).toEqual(['pending', 'pending', 'pending', 'pending']);
    const [a1, a2, b1, c1] = queued.map(({ task_id }) => task_id);
    await end(one, running.task_id);
    for (const id of [a1, a2, b1]) await end(one, id ?? '');
    await until('all have started', () => expect(host.launched).toEqual([running.task_id, a1, a2, b1, c1]));
    await until('nothing waits', async () => expect(await readdir(stateDir.queueDir)).toEqual([]));
  });

  it('that could not be started get their end by that server, and no other one starts them meanwhile', async () => {
    const second = await leftInQueue();
    const other = manager();
    const launch = host.launch.bind(host);
    host.launch = async () => {
      host.launch = launch;
      await other.advanceQueue();
      throw new BridgeError('TASK_START_FAILED', 'The keeper ended at once.', 'Start it again.');
    };
    await manager().advanceQueue();
    expect(host.launched).not.toContain(second.task_id);
    expect(await other.get(second.task_id)).toMatchObject({ status: 'error' });
    expect(await readdir(stateDir.queueDir)).toEqual([]);
    expect(await readdir(stateDir.lockDir)).toEqual([]);
  });

  it.each(['made', 'unanswered', 'refused'] as const)(
    'that end during the request are reported as ended, not as out of reach: the connection is %s',
    async (connects) => {
      const tasks = manager();
      const asked = async (project: string, act: (taskId: string) => Promise<unknown>) => {
        Object.assign(host, { connects: 'made', endsWhenAsked: false });
        const { task_id: taskId } = await start(tasks, project);
        Object.assign(host, { connects, endsWhenAsked: true });
        return act(taskId);
      };
      expect(await refusal(asked('a', (taskId) => tasks.message(taskId, { text: 'Hello.' })))).toMatch(
        /^TASK_NOT_RUNNING: .*ended before it answered; its status is completed: Done\./,
      );
      // What was wanted of it is so.
      expect(await asked('b', (taskId) => tasks.kill(taskId, 'Enough.'))).toMatchObject({ reason: 'Done.' });
      expect(
        await asked('c', (taskId) => tasks.output({ taskId, view: 'screen', maxBytes: 100 })),
      ).toMatchObject({ text: 'Bye.' });
    },
  );

  it.each(['unanswered', 'refused'] as const)('that run are out of reach when %s', async (connects) => {
    const tasks = manager();
    const { task_id: taskId } = await start(tasks, 'a');
    host.connects = connects;
    expect(await refusal(tasks.message(taskId, { text: 'Hello.' }))).toMatch(/^TASK_UNREACHABLE/);
  });
});

describe('the log of a task', () => {
  let log: string;
  let page: (cursor?: string, maxBytes?: number) => Promise<OutputPage>;

  beforeEach(async () => {
    const tasks = manager();
    const { task_id: taskId } = await start(tasks, 'a');
    log = join(folder, 'p', 'a', 'log');
    page = (cursor, maxBytes = 100) => tasks.output({ taskId, view: 'log', maxBytes, cursor });
  });

  async function whole(maxBytes: number, from = '0'): Promise<string> {
    let text = '';
    for (let cursor = from; ;) {
      const next = await page(cursor, maxBytes);
      text += next.text;
      if (!next.more) return text;
      cursor = next.cursor;
    }
  }

  it.each([4, 5, 64, 10_000])(
    'comes in pages of %i bytes that join, also inside of characters',
    async (n) => {
      const text = 'a é ☃ 😀 日本語\n'.repeat(30);
      await writeFile(log, text);
      expect(await whole(n)).toBe(text);
    },
  );

  it('without a cursor is its newest part, from the beginning of a line, and goes on from there', async () => {
    await writeFile(log, 'one\ntwo\nthree\n');
    const newest = await page(undefined, 10);
    expect(newest).toMatchObject({ text: 'two\nthree\n', more: false });
    const snowman = Buffer.from('☃');
    await appendFile(log, snowman.subarray(0, 2));
    expect(await page(newest.cursor)).toMatchObject({ text: '' });
    await appendFile(log, snowman.subarray(2));
    expect(await page(newest.cursor)).toMatchObject({ text: '☃' });
  });

  it.each([20, 90, 10_000])('that rotated says once how much is gone, in pages of %i bytes', async (n) => {
    await writeFile(`${log}.1`, `${goneNote(99)}older\n`);
    await writeFile(log, `${goneNote(1_000)}newer\n`);
    const note = n < goneNote(1_000).length ? '' : goneNote(1_000);
    expect(await whole(n)).toBe(`${note}older\nnewer\n`);
    await rm(`${log}.1`);
    await writeFile(log, goneNote(1_000));
    const { cursor } = await page('0');
    expect(await page(cursor)).toMatchObject({ text: '', more: false });
  });

  it('is read on when it rotates, and from the oldest part when that of the cursor is gone', async () => {
    await writeFile(log, 'first ');
    const { cursor } = await page('0:0');
    await appendFile(log, 'second ');
    await rename(log, `${log}.1`);
    await writeFile(log, 'third ');
    expect(await page(cursor)).toMatchObject({ text: 'second third ' });
    await rename(log, `${log}.1`);
    await writeFile(log, 'fourth');
    expect(await page(cursor)).toMatchObject({ text: 'third fourth' });
  });

  it('is not read through a link, a pipe, a socket or a file instead of its folder', async () => {
    await writeFile(join(folder, 'secret'), 'secret');
    await symlink(join(folder, 'secret'), log);
    execFileSync('mkfifo', [`${log}.1`]);
    expect((await page()).text).not.toContain('secret');
    await rm(log);
    const server = createServer().listen(log);
    await once(server, 'listening');
    expect((await page()).text).not.toContain('secret');
    server.close();
  });

  it.each(['x', '1', '0x1:0'])('has no page at %s', async (cursor) => {
    await expect(page(cursor)).rejects.toThrow('Invalid cursor.');
  });
});

it.each(['', '-1', '0x1'])('a cursor %j that no page of events gave is refused', async (cursor) => {
  const tasks = manager();
  const { task_id: taskId } = await start(tasks, 'a');
  const asked = tasks.output({ taskId, view: 'events', cursor, maxBytes: 100 });
  expect(await refusal(asked)).toMatch(/^INVALID_ARGUMENTS/);
});

describe('a task whose record cannot be read', () => {
  it('for a reason of the system, hides no other task', async () => {
    const tasks = manager();
    const { task_id: id } = await start(tasks, 'a');
    const loop = createTaskId(Date.now());
    await mkdir(stateDir.taskDir(loop));
    await symlink('record.json', stateDir.recordFile(loop));
    const { tasks: listed, unreadable } = await tasks.list({ limit: 10 });
    expect(listed).toMatchObject([{ task_id: id }]);
    expect(unreadable).toMatchObject([{ task_id: loop, why: expect.stringContaining('ELOOP') as unknown }]);
    expect(await tasks.prune(0)).toEqual({ removed: [], withWork: [] });
    await expect(tasks.get(loop)).rejects.toMatchObject({ code: 'STATE_UNUSABLE' });
    expect(await tasks.kill(id, 'Enough.')).toMatchObject({ status: 'killed' });
  });

  it('is said to run while its keeper does not answer, and is in the list by its id', async () => {
    const tasks = manager();
    const { task_id: id } = await start(tasks, 'a');
    await writeFile(stateDir.recordFile(id), '{"half');
    host.connects = 'unanswered';
    const why = `it runs, but its keeper, process ${process.pid}, does not answer`;
    expect(await refusal(tasks.get(id))).toMatch(new RegExp(`^TASK_UNREACHABLE: .*${why}`));
    expect(await tasks.list({ limit: 10 })).toMatchObject({
      unreadable: [{ task_id: id, why: expect.stringContaining(why) as unknown }],
    });
    const again = start(manager(), 'a', { onConflict: 'error' });
    expect(await refusal(again)).toMatch(/^TASK_ALREADY_RUNNING/);
  });
});
