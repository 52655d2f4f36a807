// MCP Tasks (extension io.modelcontextprotocol/tasks): a client that declares them follows a long piece of work without its
// model, and begins a turn of its model when the work ends. Behaviour of the client: measured with Claude Code 2.1.330 and 2.1.332.
import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { JsonObject } from './answers.js';
import { declaresTasks, TASKS_EXTENSION } from './client.js';
import { formAnswer, formRequest, type Form, type PersonAnswer } from './person.js';

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

/** The tasks that the client of one connection follows: the keys of the forms that it got, by task. */
export type FollowedTasks = Map<string, Set<string>>;

/**
 * The task as its client gets it, from `tasks/get` and from a call that begins it. Results are text alone: beside structured content it
 * would be dropped. Ended tasks are not followed any more, since the client has their end; nor is one that asks more often than the
 * client shows forms: its model is called, and follows it again by `wait_for_task`.
 */
export function followedTask(
  { id, createdAt, updatedAt, state }: FollowedTask,
  followed: FollowedTasks,
): JsonObject {
  const { status, words } = state;
  const keys = followed.get(id) ?? new Set<string>();
  followed.set(id, keys);
  if (status === 'input_required' && keys.size < MAX_FORMS) keys.add(state.key);
  const isAsked = status === 'input_required' && keys.has(state.key);
  if (status !== 'working' && !isAsked) followed.delete(id);
  const times = { createdAt, lastUpdatedAt: updatedAt, ttlMs: null, pollIntervalMs: POLL_MS };
  if (status === 'failed') return { taskId: id, status, ...times, error: { code: FAILED, message: words } };
  if (status === 'completed' || (status === 'input_required' && !isAsked)) {
    const more = `\n${id} goes on, and waits for an answer. The client shows ${MAX_FORMS} of its questions at most: call wait_for_task with it now, then the person is asked, and you are called when it ends.`;
    const text = status === 'completed' ? words : `${words}${more}`;
    return { taskId: id, status: 'completed', ...times, result: { content: [{ type: 'text', text }] } };
  }
  const asks = status === 'input_required' && { inputRequests: { [state.key]: formRequest(state.form) } };
  return { taskId: id, status, ...times, statusMessage: words, ...asks };
}

const named = z.looseObject({ taskId: z.string() });
const update = named.extend({ inputResponses: z.record(z.string(), z.unknown()).optional() });
const result = z.looseObject({});

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
    if (tasks.isId(id)) return tasks;
    const message = `Task not found: ${JSON.stringify(id)} is no id of a task.`;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
  };
  server.setRequestHandler('tasks/get', { params: named, result }, async ({ taskId }, context) =>
    followedTask(await (await tasksFor(taskId, context)).get(taskId), followed),
  );
  server.setRequestHandler('tasks/update', { params: update, result }, async (params, context) => {
    const tasks = await tasksFor(params.taskId, context);
    const responses = params.inputResponses ?? context.mcpReq.inputResponses ?? {};
    for (const [key, response] of Object.entries(responses)) {
      const said = formAnswer(response);
      if (said.kind !== 'unanswered') await tasks.answer(params.taskId, key, said);
    }
    return {};
  });
  server.setRequestHandler('tasks/cancel', { params: named, result }, async ({ taskId }, context) => {
    const tasks = await tasksFor(taskId, context);
    followed.delete(taskId);
    await tasks.cancel(taskId);
    return {};
  });
}
