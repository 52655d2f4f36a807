import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.js';
import type { FollowedState } from '../../src/mcp/client-tasks.js';
import type { TaskRecord } from '../../src/tasks/task.js';
import { followedTasks } from '../../src/tools/tasks/followed-tasks.js';
import { ManualClock } from '../harness/manual-clock.js';
import { decision, FakeTaskService, TASK_ID, taskRecord } from './fake-task-service.js';

const NOW_MS = Date.parse('2026-03-01T10:05:00.000Z');
const at = (seconds: number): string => new Date(NOW_MS + seconds * 1_000).toISOString();
const asked = (id: string, expires: number, more: Partial<TaskRecord['decisions'][number]> = {}) =>
  decision({
    decision_id: id,
    kind: 'permission',
    tool: 'Bash',
    input: { command: `touch ${id}`, description: 'a step' },
    summary: `touch ${id}`,
    expires_at: at(expires),
    ...more,
  });

function following(changes: Partial<TaskRecord>) {
  const tasks = new FakeTaskService(taskRecord(changes));
  const clock = new ManualClock();
  clock.advance(NOW_MS);
  const late: string[] = [];
  const followed = followedTasks(
    async () => tasks,
    silentLogger,
    () => clock.now(),
    async (_, { decision_id }) => void late.push(decision_id),
  );
  const state = async (): Promise<FollowedState> => (await followed.get(TASK_ID)).state;
  const form = async () => {
    const now = await state();
    if (now.status !== 'input_required') throw new Error(`it is ${now.status}: ${now.words}`);
    return now;
  };
  return { tasks, followed, state, form, late, later: (ms: number) => clock.advance(ms) };
}

it('shows one question at a time, the one that ends first, and nothing for a moment after an answer', async () => {
  const first = asked('dec_2', 60);
  const { tasks, state, form, later } = following({
    status: 'waiting',
    decisions: [asked('dec_1', 90), first],
  });
  const shown = await form();
  expect(shown.key).toBe('dec_2');
  expect(shown.form.message).toBe(
    'Bash: command: touch dec_2\ndescription: a step\nTask in /home/ann/app, 1 more after this',
  );
  expect(shown.form.fields[0]?.choices?.map(({ title }) => title)).toEqual([
    'Allow once',
    'For this session',
    'Deny',
  ]);
  tasks.change(TASK_ID, {
    decisions: [asked('dec_1', 90), { ...first, closed_at: at(0), verdict: 'allow' }],
  });
  expect((await state()).status).toBe('working');
  later(1_600);
  expect((await form()).key).toBe('dec_1');
});

it('what a rule answers meanwhile holds no form back', async () => {
  const ruled = asked('dec_2', 60, { closed_at: at(-1), verdict: 'allow', answered_by: 'rule' });
  const { form } = following({ status: 'waiting', decisions: [asked('dec_1', 90), ruled] });
  expect((await form()).key).toBe('dec_1');
});

it.each([
  ['does not fit into two lines', 'x'.repeat(71)],
  ['is wider than its characters are many', '漢'.repeat(40)],
  ['has a gap', `ls${' '.repeat(40)}; rm -rf z`],
])('a request that %s has no yes, and takes none', async (_, command) => {
  const { form, followed, tasks } = following({
    status: 'waiting',
    decisions: [asked('dec_1', 60, { input: { command } })],
  });
  const { message, fields } = (await form()).form;
  expect(message).toContain('Too long to decide here');
  expect(fields[0]?.choices?.map(({ value }) => value)).toEqual(['deny']);
  await followed.answer(TASK_ID, 'dec_1', { kind: 'answered', values: { verdict: 'allow_session' } });
  expect(tasks.answers).toEqual([]);
});

const parts = {
  question: 'Which parts?',
  header: 'Parts',
  multiSelect: true,
  options: [{ label: 'api' }, { label: 'docs' }],
};

interface Said {
  readonly values: Readonly<Record<string, string>>;
  readonly questions?: TaskRecord['decisions'][number]['questions'];
}

it.each<[Said | undefined, object]>([
  [{ values: { verdict: 'allow_session' } }, { verdict: 'allow_session', by: 'elicitation' }],
  [{ values: { verdict: 'deny', why: 'use make' } }, { verdict: 'deny', message: 'use make' }],
  [undefined, { verdict: 'deny' }],
  [{ values: { '1_Parts': 'api, docs' }, questions: [parts] }, { answers: { 'Which parts?': 'api, docs' } }],
])('passes the answer %j on', async (said, answer) => {
  const { tasks, followed } = following({
    status: 'waiting',
    decisions: [asked('dec_1', 50, said?.questions === undefined ? {} : { questions: said.questions })],
  });
  await followed.answer(
    TASK_ID,
    'dec_1',
    said === undefined ? { kind: 'declined' } : { kind: 'answered', values: said.values },
  );
  expect(tasks.answers).toMatchObject([{ decision_id: 'dec_1', ...answer }]);
});

it('a list is no verdict, and a long reason is cut where it says so', async () => {
  const { tasks, followed } = following({ status: 'waiting', decisions: [asked('dec_1', 50)] });
  const list = { kind: 'answered', values: { verdict: 'allow' }, lists: ['verdict'] } as const;
  await followed.answer(TASK_ID, 'dec_1', list);
  expect(tasks.answers).toEqual([]);
  const why = 'a'.repeat(2_000_000);
  await followed.answer(TASK_ID, 'dec_1', { kind: 'answered', values: { verdict: 'deny', why } });
  expect(tasks.answers[0]?.message).toMatch(/^a{10000}\n.*left out.*\na{10000}$/);
});

it('an answer that is not taken is asked again under another key, since a client shows no key twice', async () => {
  const decisions = [asked('dec_1', 60)];
  const { tasks, followed, form, later, state } = following({ status: 'waiting', decisions });
  await followed.answer(TASK_ID, 'dec_1', { kind: 'answered', values: { verdict: 'perhaps' } });
  expect((await state()).status).toBe('working');
  later(1_600);
  expect((await form()).key).toBe('dec_1.1');
  tasks.respond = () => Promise.reject(new Error('its keeper does not answer'));
  await followed.answer(TASK_ID, 'dec_1.1', { kind: 'answered', values: { verdict: 'allow' } });
  later(1_600);
  expect((await form()).key).toBe('dec_1.2');
});

it('an end has status, reason, files, cost and the next step in 2 KB, and what came too late', async () => {
  const ended: Partial<TaskRecord> = {
    status: 'completed',
    ended_at: at(0),
    reason: 'The agent is done.',
    files_changed: ['a.ts', 'b.ts'],
    cost_usd: 0.5,
    final_message: 'Mended.\n'.repeat(2_000),
    decisions: Array.from({ length: 30 }, (_, left) =>
      asked(`dec_${30 - left}`, 0, {
        closed_at: at(-9),
        verdict: 'deny',
        answered_by: 'deadline',
        late: ['allow'],
      }),
    ),
  };
  const { followed, state, late } = following(ended);
  const said = { kind: 'answered', values: { verdict: 'allow_session' } } as const;
  for (const _ of ['sent', 'repeated']) await followed.answer(TASK_ID, 'dec_1', said);
  expect(late).toEqual(['dec_1']);
  const { status, words } = await state();
  expect(status).toBe('completed');
  expect(Buffer.byteLength(words)).toBeLessThan(2_048);
  expect(words).toMatch(
    /is completed: The agent is done\.\nTime: \d+ s\. Used: \$0\.50\.\nFiles: a\.ts, b\.ts\n/,
  );
  expect(words).toContain('came too late and changed nothing: allow for dec_1.');
  expect(words).toContain('came too late and changed nothing: allow_session for dec_1.');
  expect(words).toMatch(/\| Mended\.[\s\S]*get_task_result/);
});

it.each([
  [{ status: 'failed', ended_at: at(0) }, 'failed'],
  [{ status: 'timeout', ended_at: at(0) }, 'failed'],
  [{ status: 'killed', ended_at: at(0) }, 'cancelled'],
  [{ status: 'waiting', reason: 'The turn is over; the session waits for a message.' }, 'completed'],
  [{ status: 'waiting', reason: 'The limit of the account is reached.' }, 'working'],
] as const)('a task that is %j is %s for the client', async (changes, status) => {
  expect((await following(changes).state()).status).toBe(status);
});

it('no answer of the bridge is an error: a lost task has failed, and to cancel it twice is none', async () => {
  const { followed } = following({});
  const lost = await followed.get('task_aaaaaaaaaaaaaaaaaaaa');
  expect(lost.state).toMatchObject({
    status: 'failed',
    words: expect.stringContaining('cannot read') as unknown,
  });
  await Promise.all([followed.cancel(TASK_ID), followed.cancel(TASK_ID)]);
  expect((await followed.get(TASK_ID)).state).toMatchObject({ status: 'cancelled' });
  await followed.answer('task_aaaaaaaaaaaaaaaaaaaa', 'dec_1', { kind: 'declined' });
  const broken = followedTasks(
    () => Promise.reject(new Error('no disk')),
    silentLogger,
    Date.now,
    async () => undefined,
  );
  await broken.cancel(TASK_ID);
  expect((await broken.get(TASK_ID)).state).toMatchObject({ status: 'failed' });
});
