import { afterEach, describe, expect, it, test } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { silentLogger } from '../../src/base/logger.js';
import { systemClock } from '../../src/base/system-clock.js';
import { MachineTasks } from '../../src/machines/machine-tasks.js';
import { uuidOfTask, taskIdOfUuid } from '../../src/tasks/delegation.js';
import type { TaskWait } from '../../src/tasks/task-service.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { followedTasks } from '../../src/tools/tasks/followed-tasks.js';
import { decision, taskRecord } from '../tools/fake-task-service.js';
import { refusal } from '../harness/refusal.js';
import { until } from '../harness/until.js';
import { FakeMachine, ListedTasks, limits, machinesOf } from './fake-machine.js';

const id = (digit: string): string => `task_${digit.repeat(20)}`;
const record = (digit: string, more: Partial<TaskRecord> = {}): TaskRecord =>
  taskRecord({
    task_id: id(digit),
    created_at: `2026-03-01T10:0${Number.parseInt(digit, 16) % 10}:00.000Z`,
    ...more,
  });

const open: MachineTasks[] = [];
afterEach(() => {
  for (const tasks of open.splice(0)) tasks.dispose();
});

/** This machine, `gpu` and `pod`, with these tasks. */
function threeMachines(
  here: readonly TaskRecord[] = [],
  onGpu: readonly TaskRecord[] = [],
  onPod: readonly TaskRecord[] = [],
) {
  const local = new ListedTasks(...here);
  const gpu = new FakeMachine('gpu', new ListedTasks(...onGpu));
  const pod = new FakeMachine('pod', new ListedTasks(...onPod));
  const tasks = new MachineTasks({ local, machines: machinesOf(gpu, pod), clock: systemClock, limits });
  open.push(tasks);
  return { local, gpu, pod, tasks };
}

/** Something of the machine is followed. */
const isFollowed = ({ channels }: FakeMachine): boolean => channels.size > 0;

const waitFor = (taskIds: string[], more: Partial<TaskWait> = {}): TaskWait => ({
  taskIds,
  timeoutMs: 60_000,
  signal: new AbortController().signal,
  ...more,
});

describe('a task of another machine', () => {
  it('has the name of the machine in its id, and its deadline is of the clock of this one', async () => {
    const { gpu, tasks } = threeMachines([], [record('1', { decisions: [decision()] })]);
    gpu.clockOffsetMs = 120_400;
    const found = await tasks.get(`gpu/${id('1')}`);
    expect(found.task_id).toBe(`gpu/${id('1')}`);
    expect(found.decisions[0]?.expires_at).toBe('2026-03-01T10:12:05.000Z');
    expect(gpu.calls.map(({ name, args }) => [name, args])).toEqual([['task.get', { task_id: id('1') }]]);
  });

  it('is answered, sent messages and ended there, each request with an id of its own', async () => {
    const { gpu, local, tasks } = threeMachines([record('1')], [record('1')]);
    const here = { decision_id: 'dec_1', verdict: 'allow', by: 'caller' } as const;
    await tasks.respond(`gpu/${id('1')}`, here);
    await tasks.message(`gpu/${id('1')}`, { text: 'Go on.' });
    const killed = await tasks.kill(`gpu/${id('1')}`, 'Enough.');
    expect(killed).toMatchObject({ task_id: `gpu/${id('1')}`, status: 'killed', reason: 'Enough.' });
    expect(local.answers).toEqual([]);
    expect(local.records.get(id('1'))?.status).toBe('running');
    expect(gpu.tasks.answers).toEqual([here]);
    const ids = gpu.calls.flatMap(({ args }) => ('request_id' in args ? [args.request_id] : []));
    expect(new Set(ids).size).toBe(2);
    expect(gpu.calls.map(({ request }) => request.repeats)).toEqual([true, true, false]);
  });

  it('is read by a bare id when this machine has none and one other knows it', async () => {
    const { tasks } = threeMachines([record('1')], [record('1'), record('2')], [record('3')]);
    expect((await tasks.get(id('1'))).task_id).toBe(id('1'));
    expect((await tasks.get(id('2'))).task_id).toBe(`gpu/${id('2')}`);
  });

  it('gets nothing by a bare id: a machine that claims it is named, and nothing is sent there', async () => {
    const { tasks, gpu } = threeMachines([], [record('2')]);
    const acts = [
      tasks.kill(id('2'), 'Enough.'),
      tasks.message(id('2'), { text: 'A secret.' }),
      tasks.respond(id('2'), { decision_id: 'dec_1', verdict: 'allow', by: 'caller' }),
    ];
    for (const act of acts)
      expect(await refusal(act)).toBe(
        `TASK_NOT_FOUND: This machine has no task ${id('2')}; gpu says that it has one. To act on that one, name the machine: gpu/${id('2')}.`,
      );
    expect(new Set(gpu.calls.map(({ name }) => name))).toEqual(new Set(['task.get']));
  });

  it('gives no more of its output than was asked for', async () => {
    const { tasks, gpu } = threeMachines([], [record('2')]);
    const task = record('2');
    gpu.tasks.output = async () => ({ task, text: 'x'.repeat(500_000), cursor: '1', more: true });
    const { text } = await tasks.output({ taskId: `gpu/${id('2')}`, view: 'log', maxBytes: 1_000 });
    expect(text).toHaveLength(1_000);
  });

  it('is not guessed: two machines that know a bare id are named, and so is one that does not answer', async () => {
    const { tasks, gpu } = threeMachines([], [record('2')], [record('2')]);
    await expect(tasks.get(id('2'))).rejects.toThrow('Several machines have the task');
    await gpu.cut();
    await expect(tasks.get(id('4'))).rejects.toMatchObject({
      code: 'TASK_NOT_FOUND',
      message: expect.stringContaining('These machines did not say: gpu (unverifiable since'),
    });
  });

  it('is refused as unknown on a machine that there is not', async () => {
    const { tasks } = threeMachines();
    await expect(tasks.get(`box/${id('1')}`)).rejects.toMatchObject({ code: 'MACHINE_NOT_FOUND' });
    await expect(tasks.get('gpu/../secret')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });
});

describe('one list', () => {
  const all = () => threeMachines([record('1'), record('4')], [record('2'), record('5')], [record('3')]);

  it('has the tasks of all machines, newest first, in pages without a gap or a repeat', async () => {
    const { tasks } = all();
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await tasks.list({ limit: 2, cursor });
      seen.push(...page.tasks.map(({ task_id }) => task_id));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual([`gpu/${id('5')}`, id('4'), `pod/${id('3')}`, `gpu/${id('2')}`, id('1')]);
  });

  it('names a machine whose line is cut, and shows what was read last of it', async () => {
    const { tasks, gpu } = all();
    await tasks.list({});
    await gpu.cut();
    const { tasks: shown, notes } = await tasks.list({});
    expect(shown.map(({ task_id }) => task_id)).toContain(`gpu/${id('5')}`);
    const cut = shown.find(({ task_id }) => task_id === `gpu/${id('5')}`);
    expect(cut?.status).toBe('running');
    expect(cut?.line).toMatch(/^unverifiable since 2026-03-01 14:02 \(Connection reset\); as of \d\d:\d\d$/);
    expect(notes).toEqual([
      'gpu: unverifiable since 2026-03-01 14:02 (Connection reset); its tasks are shown as they were read last. What runs there runs on.',
    ]);
    expect(shown.filter(({ line }) => line !== undefined)).toHaveLength(2);
  });

  it('says that the tasks of a machine are not known that was never read', async () => {
    const { tasks, gpu } = all();
    await gpu.cut();
    const { tasks: shown, notes = [] } = await tasks.list({});
    expect(shown).toHaveLength(3);
    expect(notes[0]).toContain('no more is known of its tasks. What runs there runs on.');
  });

  it('of a path is of this machine alone', async () => {
    const { tasks, gpu, pod } = all();
    await tasks.list({ path: '/home/ann/app' });
    expect([...gpu.calls, ...pod.calls]).toEqual([]);
  });

  it('has the tasks of one machine once, by whatever names it is known', async () => {
    const twin = new ListedTasks(record('2'));
    const [gpu, pod] = [new FakeMachine('gpu', twin, 'same'), new FakeMachine('pod', twin, 'same')];
    const tasks = new MachineTasks({
      local: new ListedTasks(),
      machines: machinesOf(gpu, pod),
      clock: systemClock,
      limits,
    });
    open.push(tasks);
    const page = await tasks.list({});
    expect(page.tasks.map(({ task_id }) => task_id)).toEqual([`gpu/${id('2')}`]);
    expect(page.notes).toEqual(['pod may be gpu by another name: both name the same state directory.']);
  });

  it('hides no task of a machine whose state directory another one claims to have', async () => {
    const gpu = new FakeMachine('gpu', new ListedTasks(record('2', { process_mark: 'guessed' })), 'same');
    const pod = new FakeMachine('pod', new ListedTasks(record('2'), record('3')), 'same');
    const machines = machinesOf(gpu, pod);
    const tasks = new MachineTasks({ local: new ListedTasks(), machines, clock: systemClock, limits });
    open.push(tasks);
    const ids = (await tasks.list({})).tasks.map(({ task_id }) => task_id);
    expect(ids).toEqual([`pod/${id('3')}`, `gpu/${id('2')}`, `pod/${id('2')}`]);
  });

  it.each([
    ['says that there is more and gives nothing', []],
    ['gives the same page for ever', [record('2')]],
  ])('ends where a machine %s', async (_what, page) => {
    const { tasks, gpu } = all();
    gpu.tasks.list = async () => ({ tasks: page, cursor: 'x' });
    const cursors: string[] = [];
    let cursor: string | undefined;
    do {
      cursor = (await tasks.list({ cursor })).cursor;
      if (cursor !== undefined) cursors.push(cursor);
    } while (cursor !== undefined && cursors.length < 5);
    expect(cursors.length).toBeLessThan(3);
  });

  it('has no task that was created after now', async () => {
    const { tasks } = threeMachines([], [record('2', { created_at: '9999-01-01T00:00:00.000Z' })]);
    const [task] = (await tasks.list({})).tasks;
    expect(Date.parse(task?.created_at ?? '')).toBeLessThanOrEqual(Date.now());
  });

  it('of this machine alone asks no other one', async () => {
    const { tasks, gpu, pod } = all();
    const { tasks: here } = await tasks.list({ isHere: true });
    expect(here.map(({ task_id }) => task_id)).toEqual([id('4'), id('1')]);
    expect([...gpu.calls, ...pod.calls]).toEqual([]);
  });

  it('refuses a cursor that no list gave', async () => {
    await expect(all().tasks.list({ cursor: 'gpu/../x' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
    });
  });
});

describe('a wait over machines', () => {
  it('ends at the first change on any of them, and goes on by its cursor', async () => {
    const { tasks, gpu, pod } = threeMachines([record('1')], [record('2')], [record('3')]);
    const ids = [id('1'), `gpu/${id('2')}`, `pod/${id('3')}`];
    const first = tasks.wait(waitFor(ids));
    await until('pod is waited for', () => isFollowed(pod));
    pod.tasks.change(id('3'), { status: 'waiting', change_seq: 4, decisions: [decision()] });
    const asked = await first;
    expect(asked.changed).toEqual([`pod/${id('3')}`]);
    expect(asked.tasks.map(({ task_id }) => task_id)).toEqual(ids);
    const second = tasks.wait(waitFor(ids, { cursor: asked.cursor }));
    await until('gpu is waited for', () => isFollowed(gpu));
    gpu.tasks.change(id('2'), { status: 'completed', change_seq: 9 });
    expect((await second).changed).toEqual([`gpu/${id('2')}`]);
  });

  it('has what happened while the line was cut once it is back', async () => {
    const { tasks, gpu } = threeMachines([], [record('2')]);
    const waiting = tasks.wait(waitFor([`gpu/${id('2')}`]));
    await until('gpu is waited for', () => isFollowed(gpu));
    await gpu.cut();
    gpu.tasks.change(id('2'), { status: 'completed', change_seq: 9 });
    gpu.mend();
    const { tasks: shown } = await waiting;
    expect(shown[0]).toMatchObject({ status: 'completed' });
    expect(shown[0]?.line).toBeUndefined();
  });

  it('asks a machine nothing once nobody waits', async () => {
    const { tasks, gpu } = threeMachines([], [record('2')]);
    await tasks.wait(waitFor([`gpu/${id('2')}`], { timeoutMs: 50 }));
    await until('no channel is open', () => gpu.channels.size === 0);
    const asked = gpu.calls.length;
    await tasks.wait(waitFor([`gpu/${id('2')}`], { timeoutMs: 0 }));
    expect(gpu.calls.length - asked).toBeLessThanOrEqual(3);
  });
});

describe('a task of another machine that is followed', () => {
  it('is reported among all others when it begins and when it ends, also after a cut', async () => {
    const { tasks, gpu } = threeMachines([], [record('2')]);
    const changed: string[] = [];
    const reached: string[] = [];
    tasks.onDidChange((one) => changed.push(one));
    tasks.onReached((one) => reached.push(one));
    const watch = tasks.watch('active');
    await until('gpu is followed', () => reached.includes('gpu'));
    await gpu.cut();
    gpu.mend();
    await until('gpu is followed again', () => reached.filter((one) => one === 'gpu').length > 1);
    gpu.tasks.records.set(id('3'), record('3'));
    gpu.tasks.change(id('3'));
    gpu.tasks.change(id('2'), { status: 'completed' });
    await until('both are seen', () => changed.length === 2);
    expect(changed).toEqual([`gpu/${id('3')}`, `gpu/${id('2')}`]);
    watch.dispose();
  });

  it('shows its form to a client with Tasks, which answers it there, and goes on working while the line is cut', async () => {
    const asked = record('2', {
      status: 'waiting',
      decisions: [decision({ expires_at: '2099-01-01T00:00:00.000Z' })],
    });
    const { tasks, gpu } = threeMachines([], [asked]);
    const client = followedTasks(
      async () => tasks,
      silentLogger,
      () => systemClock.now(),
      async () => undefined,
    );
    const far = `gpu/${id('2')}`;
    expect(client.isId(far)).toBe(true);
    const { state } = await client.get(far);
    if (state.status !== 'input_required') throw new Error(state.words);
    expect(state.form.message).toContain('Task on gpu in /home/ann/app');
    await client.answer(far, state.key, { kind: 'answered', values: { verdict: 'deny' } });
    expect(gpu.tasks.answers).toMatchObject([{ decision_id: 'dec_1', verdict: 'deny' }]);
    await gpu.cut();
    expect((await client.get(far)).state).toMatchObject({
      status: 'working',
      words: expect.stringContaining('unverifiable since'),
    });
    expect((await client.get(`gpu/${id('4')}`)).state.status).toBe('working');
  });
});

describe('what is cut', () => {
  it('is refused for all that changes something, with whether it was sent', async () => {
    const { tasks, gpu } = threeMachines([], [record('1')]);
    const far = `gpu/${id('1')}`;
    await tasks.get(far);
    await gpu.cut();
    const refused = { code: 'MACHINE_UNREACHABLE', data: { machine: 'gpu', sent: 'not_sent' } };
    await expect(tasks.kill(far, 'Enough.')).rejects.toMatchObject(refused);
    await expect(tasks.message(far, { text: 'x' })).rejects.toMatchObject(refused);
    await expect(
      tasks.respond(far, { decision_id: 'dec_1', verdict: 'allow', by: 'caller' }),
    ).rejects.toMatchObject(refused);
    expect(await tasks.get(far)).toMatchObject({
      status: 'running',
      line: expect.stringMatching(/^unverifiable/),
    });
  });

  it('is not done by a server inside a task', async () => {
    const gpu = new FakeMachine('gpu', new ListedTasks(record('1')));
    const guard = async (what: string) => {
      throw new BridgeError('INSIDE_TASK', `No ${what} here.`, '');
    };
    const tasks = new MachineTasks({
      local: new ListedTasks(),
      machines: machinesOf(gpu),
      clock: systemClock,
      limits,
      guard,
    });
    open.push(tasks);
    await expect(tasks.kill(`gpu/${id('1')}`, 'x')).rejects.toMatchObject({ code: 'INSIDE_TASK' });
    expect(gpu.calls).toEqual([]);
  });
});

test('the UUID of a task names its machine, and only those of the settings are taken', () => {
  const uuid = uuidOfTask(`gpu/${id('1')}`);
  expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(uuid).not.toBe(uuidOfTask(`pod/${id('1')}`));
  expect(taskIdOfUuid(uuid, ['pod', 'gpu'])).toBe(`gpu/${id('1')}`);
  expect(taskIdOfUuid(uuid, ['pod'])).toBeUndefined();
  expect(taskIdOfUuid(uuidOfTask(id('1')), ['gpu'])).toBe(id('1'));
});
