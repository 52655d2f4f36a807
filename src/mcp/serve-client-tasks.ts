import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { declaresTasks, TASKS_EXTENSION } from './client.js';
import { taskFields, type ClientTasks, type FollowedTasks } from './client-tasks.js';
import { formAnswer } from './elicitation.js';

const named = z.looseObject({ taskId: z.string() });
const update = named.extend({ inputResponses: z.record(z.string(), z.unknown()).optional() });
const anyResult = z.looseObject({});

/** Answers `tasks/get`, `tasks/update` and `tasks/cancel`, for any task of this user: a client asks the next server for what it followed before. */
export function serveClientTasks(
  server: Server,
  load: () => Promise<ClientTasks>,
  followed: FollowedTasks,
): void {
  const tasksFor = async (id: string, { mcpReq }: ServerContext): Promise<ClientTasks> => {
    if (!declaresTasks(mcpReq.envelope))
      throw new MissingRequiredClientCapabilityError({
        requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
      });
    const tasks = await load();
    if (!tasks.isId(id))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `Task not found: ${JSON.stringify(id)} is no id of a task.`,
      );
    return tasks;
  };
  server.setRequestHandler(
    'tasks/get',
    { params: named, result: anyResult },
    async ({ taskId: id }, context) => {
      const task = await (await tasksFor(id, context)).get(id);
      return taskFields(followed.saw(task));
    },
  );
  server.setRequestHandler(
    'tasks/update',
    { params: update, result: anyResult },
    async ({ taskId: id, inputResponses }, context) => {
      const tasks = await tasksFor(id, context);
      for (const [key, response] of Object.entries(inputResponses ?? context.mcpReq.inputResponses ?? {})) {
        const said = formAnswer(response);
        if (said.kind !== 'unanswered') await tasks.answer(id, key, said);
      }
      return {};
    },
  );
  server.setRequestHandler(
    'tasks/cancel',
    { params: named, result: anyResult },
    async ({ taskId: id }, context) => {
      const tasks = await tasksFor(id, context);
      followed.left(id);
      await tasks.cancel(id);
      return {};
    },
  );
}

/**
 * Offers Tasks to the clients that declare them, and to no other: the SDK answers `server/discover` with one set of
 * capabilities for all.
 */
export class TasksDiscovery {
  readonly #instructions: string;
  readonly #asked = new Set<string | number>();

  /** `instructions` are added to those of the server. */
  constructor(instructions: string) {
    this.#instructions = instructions;
  }

  received(message: JSONRPCMessage): void {
    if (!('method' in message && 'id' in message) || message.method !== 'server/discover') return;
    if (declaresTasks(message.params?._meta)) this.#asked.add(message.id);
  }

  /** The message as it is sent. */
  sent(message: JSONRPCMessage): JSONRPCMessage {
    if (!('result' in message) || !this.#asked.delete(message.id)) return message;
    const { data } = discovered.safeParse(message.result);
    if (data === undefined) return message;
    const { capabilities, instructions } = data;
    const extensions = { ...capabilities.extensions, [TASKS_EXTENSION]: {} };
    const words = [instructions, this.#instructions].filter((text) => text !== undefined).join('\n');
    return {
      ...message,
      result: { ...data, capabilities: { ...capabilities, extensions }, instructions: words },
    };
  }
}

const discovered = z.looseObject({
  capabilities: z.looseObject({ extensions: z.record(z.string(), z.unknown()).optional() }),
  instructions: z.string().optional(),
});
