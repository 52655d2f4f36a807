// MCP Tasks (extension io.modelcontextprotocol/tasks): a client that declares them follows a long piece of work without its
// model, and begins a turn of its model when the work ends. Behaviour of the client: measured with Claude Code 2.1.330 and 2.1.332.
import {
  inputRequired,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type JSONRPCMessage,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { declaresTasks, TASKS_EXTENSION } from './client.js';
import { formAnswer, formSchema } from './elicitation.js';
import type { JsonObject } from './json-object.js';
import type { Form, PersonAnswer } from './person.js';

/** How often the client asks: an end reaches its model within 1.4 s. */
const POLL_MS = 1_000;
/** Claude Code shows no form of a task after so many, and says nothing of it (2.1.332). */
const MAX_FORMS = 16;
/** Words for the error of a failed task: the client shows its message alone. */
const FAILED = -32_000;

/** What a client that follows a task sees of it. */
export type FollowedState =
  | { readonly status: 'working'; readonly words: string }
  /** One question at a time: the client holds answers back until all that it saw are answered. */
  | { readonly status: 'input_required'; readonly words: string; readonly key: string; readonly form: Form }
  | { readonly status: 'completed' | 'failed' | 'cancelled'; readonly words: string };

/** Times are ISO 8601 in UTC. */
export interface FollowedTask {
  readonly id: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly state: FollowedState;
}

/** The tasks that a server lets its clients follow. No method rejects: an error would end the task for the client, or make it ask for ever. */
export interface ClientTasks {
  /** True for the id of a task here, also of one that is gone. */
  isId(id: string): boolean;
  get(id: string): Promise<FollowedTask>;
  /** Passes an answer on; one that comes too late is recorded as such. */
  answer(id: string, key: string, said: PersonAnswer): Promise<void>;
  /** Ends the task; again is no error. */
  cancel(id: string): Promise<void>;
}

/** The task as `tasks/get` and a call that begins it answer. Results are text alone: beside structured content it would be dropped. */
export function taskFields({ id, createdAt, updatedAt, state }: FollowedTask): JsonObject {
  const { status, words } = state;
  const shared = {
    taskId: id,
    status,
    createdAt,
    lastUpdatedAt: updatedAt,
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
  if (status === 'completed') return { ...shared, result: { content: [{ type: 'text', text: words }] } };
  if (status === 'failed') return { ...shared, error: { code: FAILED, message: words } };
  if (status !== 'input_required') return { ...shared, statusMessage: words };
  const { message } = state.form;
  const request = inputRequired.elicit({ message, requestedSchema: formSchema(state.form) });
  return { ...shared, statusMessage: words, inputRequests: { [state.key]: request } };
}

/** The tasks that one client follows. */
export class FollowedTasks {
  /** The keys of the forms that the client got, by task. */
  readonly #shown = new Map<string, Set<string>>();

  has(id: string): boolean {
    return this.#shown.has(id);
  }

  /**
   * The task as its client gets it. Ended tasks are not followed any more, since the client has their end; nor is one that asks
   * more often than the client shows forms: its model is called, and follows it again by `wait_for_task`.
   */
  saw(task: FollowedTask): FollowedTask {
    const { id, state } = task;
    const keys = this.#shown.get(id) ?? new Set<string>();
    this.#shown.set(id, keys);
    if (state.status === 'working') return task;
    if (state.status === 'input_required') {
      if (keys.size < MAX_FORMS) keys.add(state.key);
      if (keys.has(state.key)) return task;
    }
    this.#shown.delete(id);
    if (state.status !== 'input_required') return task;
    const words = `${state.words}\n${id} goes on, and waits for an answer. The client shows ${MAX_FORMS} of its questions at most: call wait_for_task with it now, then the person is asked, and you are called when it ends.`;
    return { ...task, state: { status: 'completed', words } };
  }

  left(id: string): void {
    this.#shown.delete(id);
  }
}

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
