import type { TaskWait } from '../../src/tasks/task-service.js';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../src/mcp/answers.js';
import { MAX_REPLY_BYTES, REPLY_BUDGET_BYTES, wireBytes } from '../../src/mcp/answers.js';
import type { Person } from '../../src/mcp/person.js';
import type { Follower } from '../../src/mcp/tool.js';
import { readable } from '../../src/mcp/answers.js';
import { WaitCursor } from '../../src/tasks/watch/task-waiter.js';
import { enabledTools } from '../../src/tools/registry.js';
import type { ToolServices } from '../../src/tools/services.js';
import { decision, FakeTaskService, OTHER_ID, TASK_ID, taskRecord } from './fake-task-service.js';
import { unusedServices } from './unused-services.js';
import { refusal } from '../harness/refusal.js';
import { sampleWorktree } from '../tasks/sample-task.js';

type Verify = Awaited<ReturnType<ToolServices['verifications']>>['verify'];

describe('tools', () => {
  let tasks: FakeTaskService;
  let progress: string[];

  beforeEach(() => {
    tasks = new FakeTaskService(taskRecord());
    progress = [];
  });

  async function call(
    name: string,
    args: JsonObject,
    signal = new AbortController().signal,
    person?: Person,
    follower?: Follower,
    more: Partial<ToolServices> = {},
  ): Promise<JsonObject> {
    const tool = enabledTools('all').find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    const services = {
      ...unusedServices,
      tasks: async () => tasks,
      activeProject: { set: async (path: string) => `/real${path}`, absolute: async (path = '/app') => path },
      ...more,
    };
    return tool.run(args, services, { signal, progress: (text) => progress.push(text), person, follower });
  }

  test('start_task understands mode, and names it beside permission_mode', async () => {
    await call('start_task', { prompt: 'Do it.', mode: 'cautious' });
    expect(tasks.started).toMatchObject([{ permissionMode: 'cautious' }]);
    expect(
      await refusal(call('start_task', { prompt: 'Do it.', mode: 'auto', permission_mode: 'cautious' })),
    ).toContain('unknown argument "mode"');
  });

  test('respond_to_task and message_task wait for what comes when asked to, and not where the client follows', async () => {
    const words = { task_id: TASK_ID, wait_seconds: 30 };
    const waiting = call('respond_to_task', { ...words, decision_id: 'dec_1', verdict: 'deny' });
    await vi.waitFor(() => expect(tasks.waiting).toBe(1));
    tasks.change(TASK_ID, { status: 'completed', reason: 'Done.', last_output: 'All done.', change_seq: 9 });
    expect(await waiting).toMatchObject({
      status: 'completed',
      reason: 'Done.',
      last_output: 'All done.',
      cursor: 'c2',
      hint: expect.stringContaining('completed successfully') as unknown,
    });
    const follower = { follows: () => true, follow: () => undefined };
    const answer = await call('message_task', { ...words, text: 'Next.' }, undefined, undefined, follower);
    expect(answer).not.toHaveProperty('reason');
    expect(tasks.waiting).toBe(0);
  });

  test('kill_task puts the reason into the record, and names what ends a worktree', async () => {
    tasks.change(TASK_ID, { worktree: sampleWorktree() });
    const killed = await call('kill_task', { task_id: TASK_ID, reason: 'The wrong project.' });
    expect(killed['message']).toMatch(/terminated successfully\. Its work is in a worktree: .*finish_task/);
    expect((await tasks.get(TASK_ID)).reason).toBe('Terminated by kill_task: The wrong project.');
    expect((await call('get_task_status', { task_id: TASK_ID }))['hint']).toContain('finish_task');
  });

  test.each(['../../etc', `${TASK_ID}\n`, 'x'.repeat(100_000)])(
    'an id that cannot be one is answered with what to do: %j',
    async (taskId) => {
      for (const name of ['get_task_status', 'kill_task']) {
        expect(await refusal(call(name, { task_id: taskId }))).toMatch(
          /^TASK_NOT_FOUND: Unknown task .{2,60}\. A task id looks like task_0123456789abcdef0123\. See which tasks there are with list_tasks\. Short ids .*$/,
        );
      }
    },
  );

  test('list_tasks shows 20 at a time unless asked otherwise, and less when these are too long', async () => {
    for (let index = 10; index < 60; index++) {
      const id = `task_000000000000000000${index}`;
      tasks.records.set(
        id,
        taskRecord({ task_id: id, prompt_summary: 'y'.repeat(index === 12 ? 9_000 : 200) }),
      );
    }
    tasks.records.set('task_00000000000000000013', taskRecord({ prompt_summary: 'z'.repeat(9_000) }));
    const page = await call('list_tasks', {});
    expect(tasks.lists.map((query) => query.limit)).toEqual([20, 4]);
    expect(page['cursor']).toBe('4');
    expect(wireBytes(page)).toBeLessThan(REPLY_BUDGET_BYTES);
    const asked = await call('list_tasks', { limit: 10, status: 'active' });
    expect(asked['tasks']).toHaveLength(10);
  });

  test('wait_for_task waits 45 s at most and tells in short what did not change', async () => {
    tasks.records.set(OTHER_ID, taskRecord({ task_id: OTHER_ID }));
    const waits: TaskWait[] = [];
    tasks.wait = async (query) => {
      waits.push(query);
      return {
        tasks: [taskRecord({ status: 'completed', exit_code: 0 }), taskRecord({ task_id: OTHER_ID })],
        changed: [TASK_ID],
        cursor: 'c9',
      };
    };
    const answer = await call('wait_for_task', { task_ids: [TASK_ID, OTHER_ID, TASK_ID], cursor: 'c8' });
    expect(waits).toMatchObject([{ taskIds: [TASK_ID, OTHER_ID], cursor: 'c8' }]);
    expect(waits[0]?.timeoutMs).toBeLessThanOrEqual(45_000);
    expect(answer).toMatchObject({
      cursor: 'c9',
      tasks: [
        {
          task_id: TASK_ID,
          changed: true,
          exit_code: 0,
          hint: 'Task completed successfully. Review the output above. That is what it says of itself: get_task_result gives its receipt, with its commands and how each ended.',
        },
        { task_id: OTHER_ID, changed: false },
      ],
    });
    expect(JSON.stringify(answer).match(/last_output/g)).toHaveLength(1);
    expect(await refusal(call('wait_for_task', { task_ids: [TASK_ID], timeout_seconds: 46 }))).toContain(
      'an integer from 0 to 45',
    );
    expect(await refusal(call('wait_for_task', { task_ids: [] }))).toContain(
      'a list of 1 to 20 items, each a string',
    );
  });

  test('wait_for_task is not woken by the answer that it took from a person', async () => {
    tasks.records.set(TASK_ID, taskRecord({ status: 'waiting', decisions: [decision()], change_seq: 4 }));
    const answered = taskRecord({ decisions: [], change_seq: 6 });
    tasks.respond = async () => answered;
    const cursors: (string | undefined)[] = [];
    tasks.wait = async ({ cursor }) => {
      cursors.push(cursor);
      const now = cursors.length === 1 ? await tasks.get(TASK_ID) : { ...answered, change_seq: 7 };
      return { tasks: [now], changed: [TASK_ID], cursor: WaitCursor.of([now]) };
    };
    const person: Person = { answeredKeys: [], ask: async () => ({ kind: 'declined' }) };
    const answer = await call(
      'wait_for_task',
      { task_ids: [TASK_ID], cursor: `${TASK_ID}:3` },
      undefined,
      person,
    );
    expect(cursors).toEqual([`${TASK_ID}:3`, `${TASK_ID}:6`]);
    expect(answer).toMatchObject({ cursor: `${TASK_ID}:7` });
  });

  test('verify_task asks the person at the client for checks that nobody has allowed', async () => {
    tasks.records.set(TASK_ID, taskRecord({ status: 'completed' }));
    const kinds = ['answered', 'declined', 'later', undefined] as const;
    const messages = [];
    for (const kind of kinds) {
      const asked: unknown[] = [];
      const verify: Verify = async (_, ask) => {
        const isAllowed = await ask('Run unit?');
        asked.push(isAllowed);
        const verdict = isAllowed === true ? 'met' : 'not run';
        return isAllowed === undefined
          ? undefined
          : { results: [{ name: 'unit', command: 'true', verdict }], rounds: 0, tests: [], notes: [] };
      };
      const person: Person = {
        answeredKeys: [],
        ask: async (key, { message }) => {
          asked.push(key, message);
          return kind === 'answered' ? { kind, values: {} } : { kind: kind ?? 'unanswered' };
        },
      };
      const { message } = await call(
        'verify_task',
        { task_id: TASK_ID },
        undefined,
        kind === undefined ? undefined : person,
        undefined,
        { verifications: async () => ({ verify }) },
      );
      messages.push(message);
      const answer = { answered: true, declined: false, later: undefined };
      if (kind !== undefined) expect(asked).toEqual([`${TASK_ID}.verify`, 'Run unit?', answer[kind]]);
    }
    const allow = `A person has to allow these checks: in a form, where this client shows one, or in a terminal: tasks verify ${TASK_ID}.`;
    expect(messages).toEqual([
      '1 check met.',
      `0 of 1 check met. ${allow}`,
      expect.stringContaining('Call verify_task again'),
      `0 of 1 check met. ${allow}`,
    ]);
  });

  test('get_task_output takes less than asked where escaping would make an answer over 1 MB', async () => {
    tasks.text = '\u0001'.repeat(262_144);
    const answer = await call('get_task_output', { task_id: TASK_ID, view: 'screen', max_bytes: 262_144 });
    expect(tasks.outputs.map((query) => query.maxBytes)).toEqual([262_144, 131_072, 65_536]);
    expect(wireBytes({ structuredContent: answer, text: readable(answer) })).toBeLessThan(MAX_REPLY_BYTES);
  });

  test('respond_to_task answers in the name of its caller', async () => {
    tasks.change(TASK_ID, { status: 'waiting', decisions: [decision()] });
    const answers = { 'Which database?': 'SQLite' };
    const answer = await call('respond_to_task', {
      task_id: TASK_ID,
      decision_id: 'dec_1',
      verdict: 'allow',
      answers: { ...answers, 'Which ones?': ['a', 'b'] },
    });
    const given = { ...answers, 'Which ones?': 'a, b' };
    expect(tasks.answers).toEqual([{ decision_id: 'dec_1', verdict: 'allow', answers: given, by: 'caller' }]);
    expect(answer).toMatchObject({ status: 'running', decisions: [] });
    expect(
      await refusal(call('respond_to_task', { task_id: TASK_ID, decision_id: 'dec_1', verdict: 'yes' })),
    ).toContain('verdict must be one of "allow", "allow_session", "deny" (got "yes").');
    expect(
      await refusal(
        call('respond_to_task', { task_id: TASK_ID, decision_id: 'd', verdict: 'allow', answers: { q: 1 } }),
      ),
    ).toContain('answers.q must be a string of at most 10000 characters (got 1).');
  });

  test('respond_to_task says so when what is allowed was not all to be seen, and get_task_status before', async () => {
    const long = { command: `${'a'.repeat(6_000)}; rm -rf src` };
    tasks.change(TASK_ID, { status: 'waiting', decisions: [decision({ input: long })] });
    const shown = await call('get_task_status', { task_id: TASK_ID });
    expect(JSON.stringify(shown['decisions'])).toMatch(/"1,9\d\d characters more: read tasks:\/\/task_/);
    expect(shown['hint']).toContain('Of dec_1 not all is shown');
    const words = { task_id: TASK_ID, decision_id: 'dec_1' };
    const allowed = await call('respond_to_task', { ...words, verdict: 'allow' });
    expect(allowed['hint']).toMatch(
      /^You allowed more than these tools showed of dec_1 \(1,9\d\d characters/,
    );
    tasks.change(TASK_ID, { status: 'waiting', decisions: [decision({ input: long })] });
    const denied = await call('respond_to_task', { ...words, verdict: 'deny' });
    expect(denied['hint']).not.toContain('You allowed');
  });
});
