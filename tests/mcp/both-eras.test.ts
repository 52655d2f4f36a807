import { z } from 'zod';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BridgeError } from '../../src/base/errors.js';
import { Emitter, nextEvent } from '../../src/base/lifecycle.js';
import { toolDefiner } from '../../src/mcp/tool.js';
import { toolsForModels } from '../tools/all-tools.js';
import { decision, FakeTaskService, TASK_ID, taskRecord } from '../tools/fake-task-service.js';
import { eras, startServing, type Serving } from './serving.js';

describe.each(eras)('a client of the %s era', (era) => {
  let serving: Serving;

  beforeEach(async () => {
    serving = await startServing(era);
  });

  afterEach(async () => {
    await serving.close();
  });

  test('is told how to delegate, and sees every tool with schemas and annotations', async () => {
    const { client } = serving;
    expect(client.getProtocolEra()).toBe(era);
    expect(client.getInstructions()).toContain('start_task');
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(toolsForModels.map((tool) => tool.name));
    for (const tool of tools) {
      expect(tool.inputSchema.type).toBe('object');
      expect(tool.outputSchema?.type).toBe('object');
      expect(tool.title).toBeTruthy();
    }
    expect(tools.find((tool) => tool.name === 'kill_task')?.annotations).toMatchObject({
      destructiveHint: true,
    });
    expect(tools.find((tool) => tool.name === 'list_tasks')?.annotations).toMatchObject({
      readOnlyHint: true,
    });
  });

  test('gets an error instead of an answer that is too large in its two forms', async () => {
    const large = toolDefiner<unknown>()({
      name: 'large',
      title: 'Large',
      effect: 'read',
      description: 'A large answer.',
      input: {},
      output: { text: z.string() },
      handle: async () => ({ text: `${'x'.repeat(99)}\n`.repeat(6_500) }),
    });
    const other = await startServing(era, serving.tasks, { tools: [large] });
    const result = await other.client.callTool({ name: 'large', arguments: {} });
    await other.close();
    expect(textOf(result)).toContain('MESSAGE_TOO_LARGE: ');
  });

  test('gets a fault of the bridge as one, without its inside', async () => {
    const result = await serving.client.callTool({
      name: 'start_task',
      arguments: { prompt: 'x', path: '/bug' },
    });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/^INTERNAL_ERROR: start_task failed/);
    expect(textOf(result)).not.toContain('undefined is not a function');
  });

  test('gets an error that names the wrong argument', async () => {
    const args = { prompt: 'x', path: '/p', timeout_second: 90 };
    const result = await serving.client.callTool({ name: 'start_task', arguments: args });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe(
      'INVALID_ARGUMENTS: Invalid arguments for start_task: unknown argument "timeout_second" (did you mean "timeout_seconds"?). Correct these arguments and call again.',
    );
    expect(serving.tasks.started).toEqual([]);
  });

  test('is told the nearest name for a tool that does not exist', async () => {
    await expect(serving.client.callTool({ name: 'start_tsk', arguments: {} })).rejects.toThrow(
      'Did you mean start_task?',
    );
  });

  test('sees progress while it waits, and the answer at the first change', async () => {
    const { client, tasks } = serving;
    const seen: string[] = [];
    const answer = client.callTool(
      { name: 'wait_for_task', arguments: { task_ids: [TASK_ID] } },
      { onprogress: ({ message }) => seen.push(message ?? '') },
    );
    await vi.waitFor(() => expect(seen).toEqual(['Waiting for 1 task']));
    tasks.change(TASK_ID, { status: 'waiting', decisions: [decision()] });
    expect((await answer).structuredContent).toMatchObject({
      cursor: 'c2',
      tasks: [{ task_id: TASK_ID, status: 'waiting', changed: true, decisions: [{ decision_id: 'dec_1' }] }],
    });
  });

  test('can cancel a call, and the tool stops with it', async () => {
    const { client, tasks } = serving;
    let aborted = false;
    const calls = new Emitter<void>();
    const called = nextEvent(calls.event);
    tasks.wait = ({ signal }) => {
      calls.fire();
      return new Promise((finish) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          finish({ tasks: [], changed: [], cursor: '' });
        });
      });
    };
    const controller = new AbortController();
    const call = client.callTool(
      { name: 'wait_for_task', arguments: { task_ids: [TASK_ID] } },
      { signal: controller.signal },
    );
    const refused = expect(call).rejects.toThrow();
    await called;
    controller.abort('the user stopped it');
    await refused;
    await vi.waitFor(() => expect(aborted).toBe(true));
  });

  test('lists, reads and completes resources', async () => {
    const { client } = serving;
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'config://current',
      'skill://claude-code-bridge/SKILL.md',
      'tasks://active',
      `logs://${TASK_ID}`,
    ]);
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'logs://{task_id}',
      'tasks://{task_id}',
    ]);
    const { completion } = await client.complete({
      ref: { type: 'ref/resource', uri: 'logs://{task_id}' },
      argument: { name: 'task_id', value: 'task_01' },
    });
    expect(completion.values).toEqual([TASK_ID]);
    const { contents } = await client.readResource({ uri: `logs://${TASK_ID}` });
    expect(contents).toMatchObject([{ mimeType: 'text/plain', text: 'line one\nline two\n' }]);
  });

  test('lists, gets and completes prompts', async () => {
    const { client } = serving;
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(['continue', 'delegate', 'investigate', 'review']);
    expect(prompts.find(({ name }) => name === 'delegate')).toMatchObject({
      title: 'Delegate to Claude Code',
      arguments: [
        { name: 'request', required: true },
        { name: 'path', required: false },
      ],
    });
    const { messages } = await client.getPrompt({ name: 'continue', arguments: { request: 'Add a test.' } });
    expect(messages).toMatchObject([{ role: 'user', content: { type: 'text' } }]);
    expect(JSON.stringify(messages)).toContain(`Task ${TASK_ID} in /home/ann/app`);
    const { completion } = await client.complete({
      ref: { type: 'ref/prompt', name: 'continue' },
      argument: { name: 'id', value: 'task_01' },
    });
    expect(completion).toMatchObject({ values: [TASK_ID], hasMore: false });
  });

  test.each([
    ['contineu', {}, 'Unknown prompt "contineu". Did you mean continue?'],
    ['delegate', {}, 'INVALID_ARGUMENTS: Invalid arguments for the prompt delegate: request is required'],
    ['review', {}, 'TASK_NOT_FOUND: There is no task that has ended.'],
  ])('is told why it cannot have the prompt %s %j', async (name, args, words) => {
    const got = serving.client.getPrompt({ name, arguments: args });
    await expect(got).rejects.toMatchObject({ code: -32602 });
    await expect(got).rejects.toThrow(words);
  });

  test.each(['logs://task_00000000000000000000', 'logs://../../etc/passwd', 'tasks://nobody', 'nope://x'])(
    'is told that %s does not exist',
    async (uri) => {
      await expect(serving.client.readResource({ uri })).rejects.toMatchObject({
        code: -32602,
        data: { uri },
      });
    },
  );

  test('is told of updates of what it follows, and watching ends when it leaves', async () => {
    const { client, tasks } = serving;
    const uri = `tasks://${TASK_ID}`;
    const updated: string[] = [];
    client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }) => void updated.push(params.uri),
    );
    const leave =
      era === 'legacy'
        ? await client.subscribeResource({ uri }).then(() => () => client.unsubscribeResource({ uri }))
        : await client
            .listen({ resourceSubscriptions: [uri] })
            .then((subscription) => () => subscription.close());
    await vi.waitFor(() => expect(tasks.watched.get(TASK_ID)).toBe(1));
    tasks.change(TASK_ID, { activity: 'Write: login.ts' });
    await vi.waitFor(() => expect(updated).toEqual([uri]));
    await leave();
    await vi.waitFor(() => expect(tasks.watched.get(TASK_ID)).toBe(0));
  });

  test.each([
    ['copilot-cli', undefined, false],
    ['test', undefined, true],
    ['copilot-cli', 'both', true],
    ['test', 'text', false],
  ] as const)('named %s with the setting %s gets structured content: %s', async (name, answers, expected) => {
    await serving.close();
    const tasks = new FakeTaskService(taskRecord());
    serving = await startServing(era, tasks, answers === undefined ? {} : { answers }, name);
    const { client } = serving;
    const { tools } = await client.listTools();
    const result = await client.callTool({ name: 'list_tasks', arguments: {} });
    expect(tools.every(({ outputSchema }) => (outputSchema !== undefined) === expected)).toBe(true);
    expect(result.structuredContent !== undefined).toBe(expected);
    expect(textOf(result)).toContain(TASK_ID);
  });

  test.each([
    ['copilot-cli', 15_000],
    ['test', undefined],
  ])('named %s gets pages of text of %s bytes where it asks for no size', async (name, expected) => {
    await serving.close();
    const sizes: unknown[] = [];
    const page = toolDefiner<object>()({
      name: 'page',
      title: 'Page',
      effect: 'read',
      description: 'A page.',
      input: {},
      output: {},
      handle: async (_args, _services, call) => {
        sizes.push(call.pageBytes);
        return {};
      },
    });
    serving = await startServing(era, new FakeTaskService(taskRecord()), { tools: [page] }, name);
    await serving.client.callTool({ name: 'page', arguments: {} });
    expect(sizes).toEqual([expected]);
  });

  test('is told that there is a new resource when a task has started', async () => {
    await serving.close();
    serving = await startServing(era, new FakeTaskService(taskRecord()), {
      resourceMakers: new Set(['start_task']),
    });
    const { client } = serving;
    expect(client.getServerCapabilities()?.resources).toEqual({ subscribe: true, listChanged: true });
    let changes = 0;
    client.setNotificationHandler('notifications/resources/list_changed', () => void changes++);
    if (era === 'modern') await client.listen({ resourcesListChanged: true });
    await client.callTool({ name: 'list_tasks', arguments: {} });
    await client.callTool({ name: 'start_task', arguments: { path: '/p' } });
    expect(changes).toBe(0);
    await client.callTool({ name: 'start_task', arguments: { prompt: 'x', path: '/p' } });
    await vi.waitFor(() => expect(changes).toBe(1));
  });

  test('gets the way out from every tool when there is something to set first', async () => {
    await serving.close();
    serving = await startServing(era, new FakeTaskService(taskRecord()), {
      precondition: () => {
        throw new BridgeError('NO_ALLOWED_ROOTS', 'No allowed roots are set.', 'Set MCP_ALLOWED_ROOTS.');
      },
    });
    const { tools } = await serving.client.listTools();
    for (const { name } of tools) {
      const result = await serving.client.callTool({ name, arguments: {} });
      expect(textOf(result), name).toBe('NO_ALLOWED_ROOTS: No allowed roots are set. Set MCP_ALLOWED_ROOTS.');
      expect(result.isError).toBe(true);
    }
    const { contents } = await serving.client.readResource({ uri: 'config://current' });
    expect(contents).toHaveLength(1);
  });
});

function textOf(result: {
  readonly content: readonly { readonly type: string; readonly text?: unknown }[];
}): unknown {
  return result.content[0]?.text;
}
