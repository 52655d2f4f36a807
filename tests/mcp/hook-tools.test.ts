import { expect, onTestFinished, test } from 'vitest';
import type { ToolServices } from '../../src/tools/services.js';
import { FakeTaskService, taskRecord } from '../tools/fake-task-service.js';
import { eras, serverParts, startServing, type Era } from './serving.js';

async function clientNamed(era: Era, name: string) {
  const tasks = new FakeTaskService(taskRecord());
  const { services } = serverParts(tasks);
  const native: ToolServices['native'] = async () => ({
    event: async ({ event }) => ({ hookSpecificOutput: { hookEventName: event } }),
  });
  const serving = await startServing(era, tasks, { services: { ...services, native } }, name);
  onTestFinished(() => serving.close());
  return serving.client;
}

test.each(eras)(
  'Claude Code (%s) calls a tool for hooks, which is hidden from its model and answers JSON text',
  async (era) => {
    const client = await clientNamed(era, 'claude-code');
    const { tools } = await client.listTools();
    const listed = tools.find(({ name }) => name === 'native_event');
    expect(listed).toMatchObject({ _meta: { ui: { visibility: ['app'] } } });
    expect(listed?.outputSchema).toBeUndefined();
    const answer = await client.callTool({ name: 'native_event', arguments: { event: 'Stop' } });
    expect(answer.content).toEqual([
      { type: 'text', text: '{"hookSpecificOutput":{"hookEventName":"Stop"}}' },
    ]);
    expect(answer.structuredContent).toBeUndefined();
  },
);

test.each(eras)('any other client (%s) neither sees nor calls it', async (era) => {
  const client = await clientNamed(era, 'cursor');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).not.toContain('native_event');
  await expect(client.callTool({ name: 'native_event', arguments: { event: 'Stop' } })).rejects.toThrow(
    'Unknown tool',
  );
});
