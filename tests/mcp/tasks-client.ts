import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '../../src/base/logger.js';
import { serveConnection } from '../../src/mcp/server.js';
import { followWords } from '../../src/tools/instructions.js';
import { followedTasks } from '../../src/tools/tasks/followed-tasks.js';
import { FakeTaskService } from '../tools/fake-task-service.js';
import { MODERN_REVISION, serverParts } from './serving.js';

const NAMES = 'io.modelcontextprotocol/';
export const TASKS_EXTENSION = `${NAMES}tasks`;

/** `_meta` of a request of the modern era, as Claude Code writes it: with or without the declaration of Tasks. */
export function envelope(declares: boolean): Readonly<Record<string, unknown>> {
  const capabilities = {
    elicitation: { form: {} },
    ...(declares && { extensions: { [TASKS_EXTENSION]: {} } }),
  };
  return {
    [`${NAMES}protocolVersion`]: MODERN_REVISION,
    [`${NAMES}clientInfo`]: { name: 'claude-code', version: '2.1.332' },
    [`${NAMES}clientCapabilities`]: capabilities,
  };
}

const answerSchema = z.looseObject({
  id: z.number(),
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
type Answer = z.infer<typeof answerSchema>;

/** A client that writes its requests itself, each with or without the declaration of Tasks, and its server over `tasks`. */
export async function tasksClient(tasks = new FakeTaskService(), isServed = true) {
  /** Ids of decisions for which a late answer was reported. */
  const late: string[] = [];
  const service = followedTasks(
    async () => tasks,
    silentLogger,
    Date.now,
    async (_, { decision_id }) => void late.push(decision_id),
  );
  const [near, far] = InMemoryTransport.createLinkedPair();
  const followed = {
    tasks: async () => service,
    ...followWords,
  };
  const connection = serveConnection(serverParts(tasks, isServed ? { followed } : {}), far);
  const waiting = new Map<number, (answer: Answer) => void>();
  near.onmessage = (message: JSONRPCMessage) => {
    const { data } = answerSchema.safeParse(message);
    if (data !== undefined) waiting.get(data.id)?.(data);
  };
  await near.start();
  onTestFinished(() => connection.close());
  let last = 0;
  const ask = (method: string, params: Record<string, unknown>, declares = true): Promise<Answer> => {
    const id = ++last;
    const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    void near.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: envelope(declares) } });
    return answer;
  };
  const call = (name: string, args: Record<string, unknown>, declares = true) =>
    ask('tools/call', { name, arguments: args }, declares);
  return { tasks, late, ask, call };
}
