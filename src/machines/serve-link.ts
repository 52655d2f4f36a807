import { BridgeError, bridgeErrorOf, messageOf } from '../base/errors.js';
import { watchFolder } from '../base/files/watch-folder.js';
import { DisposableStore } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { leftWith, refresher } from '../base/refresher.js';
import { systemClock } from '../base/system-clock.js';
import { openSocket } from '../keeper/wire/link.js';
import { wireErrorOf } from '../keeper/wire/messages.js';
import { fittingCount, wireBytes } from '../mcp/answers.js';
import type { PeerHost } from '../mcp/peer.js';
import type { TakeChunk } from '../os/run-program.js';
import type { TaskPatch } from '../tasks/receipt/task-patch.js';
import type { ReceiptService, TaskChanges } from '../tasks/receipt/task-receipts.js';
import { TaskUnreachable } from '../tasks/task-refusals.js';
import type { TaskRecord } from '../tasks/task.js';
import type { TaskService } from '../tasks/task-service.js';
import { Channels, type ChannelEnd } from './channels.js';
import {
  LINK_EXTENSION,
  LINK_PROTOCOL,
  linkMethods,
  MAX_CHANNEL_UNREAD_BYTES,
  MAX_LISTED,
  MAX_PIECE_BYTES,
  PATCH_PART_BYTES,
  SILENCE_MS,
  type FarIdentity,
  type LinkMethods,
} from './link-protocol.js';

/** Of 10 MiB that a line may have. */
const MAX_ANSWER_BYTES = 9 * 1024 * 1024;

type PatchQuery = Extract<TaskPatch, { readonly state: 'patch' }>['query'];

/** What the far end of a line is made of. */
export interface FarEnd {
  readonly identity: Omit<FarIdentity, 'now' | 'protocol'>;
  readonly tasks: () => Promise<TaskService>;
  readonly receipts: () => Promise<ReceiptService>;
  readonly changes: () => Promise<TaskChanges>;
  readonly readPatch: (query: PatchQuery, take: TakeChunk, signal: AbortSignal) => Promise<void>;
  readonly promptOf: (record: TaskRecord) => Promise<string>;
  /** Does what a page at the other end asks for. Throws INVALID_ARGUMENTS for what it does not understand. */
  readonly act: (action: object, by: string) => Promise<object>;
  /** The folder of a task, in which its log and journal are. */
  readonly taskFolder: (taskId: string) => string;
  /** Why nothing works here. */
  readonly unusable?: BridgeError | undefined;
  readonly logger: Logger;
}

type Handlers = {
  readonly [K in keyof LinkMethods]: (
    args: LinkMethods[K]['args'],
    signal: AbortSignal,
  ) => Promise<LinkMethods[K]['value']>;
};

/** What serves the near side, with what it has begun. */
export interface FarHost extends PeerHost {
  /** Is finished, also when the line is cut meanwhile. */
  finishing<T>(work: Promise<T>): Promise<T>;
}

/** Serves `linkMethods` and channels beside the tools. The person, the forms and the folders of the near side are not asked for. */
export function serveLink(far: FarEnd): FarHost {
  let send: (method: string, params: Readonly<Record<string, unknown>>) => void = () => undefined;
  const channels = new Channels((method, params) => send(method, params));
  const begun = new Set<Promise<unknown>>();
  const finishing = <T>(work: Promise<T>): Promise<T> => {
    const done = work.finally(() => begun.delete(done));
    begun.add(done);
    return done;
  };
  const handlers = handlersOf(far, channels, finishing);
  const now = (): string => new Date().toISOString();
  return {
    extension: () => ({
      name: LINK_EXTENSION,
      value: { protocol: LINK_PROTOCOL, ...far.identity, now: now() },
    }),
    request: async (method, params, signal) => {
      try {
        return await answer(handlers, far, method, params, signal);
      } catch (thrown) {
        const error = bridgeErrorOf(thrown, method);
        if (error.code === 'INTERNAL_ERROR') far.logger.error(`${method} failed`, { error: thrown });
        throw Object.assign(new Error(error.message), { data: wireErrorOf(error) });
      }
    },
    notice: (method, params) => void channels.take(method, params),
    finishing,
    settled: async () => {
      while (begun.size > 0) await Promise.allSettled(begun);
    },
    connect: (toClient) => void (send = toClient),
    silenceMs: SILENCE_MS,
  };
}

async function answer(
  handlers: Handlers,
  { unusable }: FarEnd,
  method: string,
  params: unknown,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const name = method.replace(/^link\//u, '');
  const value = isMethod(name) ? await act(handlers, name, params ?? {}, signal, unusable) : undefined;
  if (value !== undefined) return sendable({ ...value });
  throw new BridgeError(
    'INVALID_ARGUMENTS',
    `The bridge on this machine (link protocol ${LINK_PROTOCOL}) does not understand ${JSON.stringify(name.slice(0, 40))} as it was sent.`,
    'Both bridges should be of the same version: `claude-code-bridge machines add` brings this one up to date.',
  );
}

/** The near side ends a line that sends more. Throws MESSAGE_TOO_LARGE. */
function sendable<T extends object>(answer: T): T {
  const bytes = wireBytes(answer);
  if (bytes <= MAX_ANSWER_BYTES) return answer;
  throw new BridgeError(
    'MESSAGE_TOO_LARGE',
    `The answer is too long for a line: ${bytes} bytes, and the limit is ${MAX_ANSWER_BYTES}.`,
    'Ask for less at once.',
  );
}

/** Undefined for what is not understood. */
async function act<K extends keyof LinkMethods>(
  handlers: Handlers,
  name: K,
  params: unknown,
  signal: AbortSignal,
  unusable: BridgeError | undefined,
): Promise<LinkMethods[K]['value'] | undefined> {
  const args = linkMethods[name].args.safeParse(params);
  if (!args.success) return undefined;
  if (unusable !== undefined && name !== 'ping') throw unusable;
  return handlers[name](args.data, signal);
}

function isMethod(name: string): name is keyof LinkMethods {
  return Object.hasOwn(linkMethods, name);
}

function handlersOf(far: FarEnd, channels: Channels, finishing: FarHost['finishing']): Handlers {
  const { tasks, receipts } = far;
  let opened = 0;
  return {
    ping: async () => ({ now: new Date().toISOString() }),
    'task.get': async ({ task_id }) => (await tasks()).get(task_id),
    'task.list': async (query) => listPage(await tasks(), query),
    'task.kill': async ({ task_id, reason }) => finishing((await tasks()).kill(task_id, reason)),
    'task.respond': async ({ task_id, answer: said, request_id }) =>
      finishing(
        (await tasks()).respond(task_id, { ...said, ...(request_id !== undefined && { request_id }) }),
      ),
    'task.message': async ({ task_id, request_id: requestId, ...message }) =>
      finishing(
        (await tasks()).message(task_id, { ...message, ...(requestId !== undefined && { requestId }) }),
      ),
    'task.output': async ({ task_id: taskId, view, cursor, max_bytes: maxBytes }) => {
      const { totalBytes, ...page } = await (await tasks()).output({ taskId, view, cursor, maxBytes });
      return { ...page, ...(totalBytes !== undefined && { total_bytes: totalBytes }) };
    },
    'task.receipt': async ({ task_id }, signal) => {
      const record = await (await tasks()).get(task_id);
      return { receipt: (await (await receipts()).receiptOf(record, signal)) ?? null };
    },
    'task.patch': ({ task_id, offset }, signal) => patchPart(far, task_id, offset, signal),
    'task.prompt': async ({ task_id }) => ({ text: await far.promptOf(await (await tasks()).get(task_id)) }),
    'task.act': async ({ task_id, action, by }) => ({
      ...(await finishing(far.act({ ...action, task_id }, by))),
    }),
    'channel.open': async (what, signal) => {
      const number = ++opened;
      const channel = channels.open(number);
      try {
        if (what.kind === 'changes') await openChanges(far, what.task_id, channel);
        else await openTerminal(await (await tasks()).get(what.task_id), channel);
      } catch (error) {
        channel.closed(messageOf(error));
        throw error;
      }
      if (signal.aborted) channel.dispose();
      return { channel: number };
    },
  };
}

/** As many tasks as one line takes. */
async function listPage(
  tasks: TaskService,
  { limit = MAX_LISTED, ...query }: LinkMethods['task.list']['args'],
): Promise<LinkMethods['task.list']['value']> {
  const page = await tasks.list({ ...query, limit: Math.min(limit, MAX_LISTED) });
  const most = fittingCount(page.tasks, MAX_ANSWER_BYTES / 2);
  if (most < page.tasks.length) return listPage(tasks, { ...query, limit: most });
  return {
    tasks: [...page.tasks],
    ...(page.unreadable !== undefined && { unreadable: [...page.unreadable] }),
    ...(page.cursor !== undefined && { cursor: page.cursor }),
  };
}

async function patchPart(
  { tasks, changes, readPatch }: FarEnd,
  taskId: string,
  offset: number,
  signal: AbortSignal,
): Promise<LinkMethods['task.patch']['value']> {
  const patch = await (await changes()).patchOf(await (await tasks()).get(taskId));
  const { tree } = patch;
  if (patch.state === 'nothing') return { notes: [patch.why], tree };
  const enough = new AbortController();
  const parts: Buffer[] = [];
  let at = 0;
  const take = (chunk: Buffer): void => {
    const part = chunk.subarray(Math.max(0, offset - at));
    at += chunk.length;
    if (part.length > 0) parts.push(part);
    if (at - offset > PATCH_PART_BYTES) enough.abort();
  };
  await readPatch(patch.query, take, AbortSignal.any([signal, enough.signal])).catch((error: unknown) => {
    if (!enough.signal.aborted) throw error;
  });
  const bytes = Buffer.concat(parts).subarray(0, PATCH_PART_BYTES);
  const isLast = offset + bytes.length >= at && !enough.signal.aborted;
  const next = isLast ? {} : { next_offset: offset + bytes.length };
  return { bytes: bytes.toString('base64'), ...next, notes: [...patch.notes], tree };
}

/** See `channel.open`. */
async function openChanges(far: FarEnd, taskId: string | undefined, channel: ChannelEnd): Promise<void> {
  const { tasks, taskFolder, logger } = far;
  const service = await tasks();
  const owned = new DisposableStore();
  channel.onClose(() => owned.dispose());
  const left = leftWith(owned);
  const notices = new Map<string, () => void>();
  const changed = (id: string): void => {
    if (taskId !== undefined && taskId !== id) return;
    const send = async (): Promise<void> => channel.send(Buffer.from(id));
    const notice = notices.get(id) ?? refresher(systemClock, left, send);
    notices.set(id, notice);
    notice();
  };
  owned.add(service.onDidChange(changed));
  owned.add(service.watch(taskId ?? 'active'));
  // An entry of the journal changes no record.
  if (taskId !== undefined) owned.add(watchFolder(taskFolder(taskId), () => changed(taskId), logger));
}

/** Passes the bytes of the keeper's socket on in both directions; the keeper waits while the other end does not take them. */
async function openTerminal(
  { task_id, socket_path: path }: Pick<TaskRecord, 'task_id' | 'socket_path'>,
  channel: ChannelEnd,
): Promise<void> {
  const failure = (why: string, isStuck: boolean): Error => new TaskUnreachable(task_id, why, { isStuck });
  const socket = path === '' ? undefined : await openSocket(path, failure);
  if (socket === undefined) throw failure('its keeper is gone', true);
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length; at += MAX_PIECE_BYTES)
      channel.send(chunk.subarray(at, at + MAX_PIECE_BYTES));
    if (channel.queued > MAX_CHANNEL_UNREAD_BYTES) socket.pause();
  });
  channel.onTaken(() => {
    if (channel.queued <= MAX_CHANNEL_UNREAD_BYTES) socket.resume();
  });
  channel.onData((data) => {
    // A keeper that reads no keys.
    if (socket.writableLength > MAX_CHANNEL_UNREAD_BYTES) return channel.refuse('the keeper does not read');
    socket.write(data);
    channel.taken(data.length);
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => channel.refuse('the keeper of the task has closed the connection'));
  channel.onClose(() => socket.destroy());
}
