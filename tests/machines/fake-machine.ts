import { setImmediate } from 'node:timers/promises';
import { ALL_MODES } from '../../src/approvals/modes.js';
import { BridgeError } from '../../src/base/errors.js';
import { Emitter } from '../../src/base/lifecycle.js';
import type { MachineTasksOptions } from '../../src/machines/machine-tasks.js';
import type { LinkMethods } from '../../src/machines/link-protocol.js';
import type { Channel, LinkRequest, Machine, Machines, MachineState } from '../../src/machines/machine.js';
import { unreachable } from '../../src/machines/unreachable.js';
import { fitsQuery, type TaskPage, type TaskQuery } from '../../src/tasks/task-service.js';
import { FakeTaskService } from '../tools/fake-task-service.js';

const CUT_AT_MS = new Date(2026, 2, 1, 14, 2).getTime();

/** Tasks in memory that are listed as real ones are: newest first, with the id of a task as cursor. */
export class ListedTasks extends FakeTaskService {
  override async list({ limit = Infinity, cursor, ...query }: TaskQuery): Promise<TaskPage> {
    this.lists.push(query);
    const fitting = [...this.records.values()]
      .filter((record) => fitsQuery(record, query))
      .sort((one, other) => other.created_at.localeCompare(one.created_at));
    const from = fitting.findIndex(({ task_id }) => task_id === cursor) + 1;
    const tasks = fitting.slice(from, from + limit);
    const last = tasks.at(-1)?.task_id;
    return { tasks, ...(from + tasks.length < fitting.length && last !== undefined && { cursor: last }) };
  }
}

/** The near end of a channel, with what the far end does. */
export class FarChannel implements Channel {
  readonly #data = new Emitter<Uint8Array>();
  readonly #closes = new Emitter<string>();
  readonly onData = this.#data.event;
  readonly onClose = this.#closes.event;
  heard: (line: string) => void = () => undefined;
  #isOpen = true;

  constructor(private readonly ended: () => void) {}

  give(text: string): void {
    void setImmediate().then(() => this.#isOpen && this.#data.fire(Buffer.from(text)));
  }

  send(data: Uint8Array): void {
    for (const line of Buffer.from(data).toString().trim().split('\n')) this.heard(line);
  }

  taken(): void {
    // What is read is not counted here.
  }

  dispose(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.ended();
    this.#closes.fire('it was closed');
  }
}

/** Another machine in memory, whose line can be cut. */
export class FakeMachine implements Machine {
  state: MachineState;
  clockOffsetMs = 0;
  readonly calls: { readonly name: string; readonly args: object; readonly request: LinkRequest }[] = [];
  readonly toolCalls: { readonly name: string; readonly args: object; readonly request: LinkRequest }[] = [];
  act: (action: object) => Record<string, unknown> = () => ({});
  answer: (name: string, args: object) => Record<string, unknown> = () => ({});
  readonly #states = new Emitter<MachineState>();
  readonly onState = this.#states.event;
  readonly #live: MachineState;
  readonly #pending = new Set<() => void>();

  constructor(
    readonly name: string,
    readonly tasks: ListedTasks,
    stateId = name,
  ) {
    const far = { protocol: 1, machine_id: null, state_id: stateId, version: '1', home: '/home/ann' };
    this.#live = { how: 'live', far: { ...far, hostname: name, now: '2026-03-01T10:00:00.000Z' } };
    this.state = this.#live;
  }

  /** Resolves when all have seen it. */
  async cut(): Promise<void> {
    for (const channel of [...this.channels]) channel.dispose();
    for (const lose of [...this.#pending]) lose();
    this.#set({ how: 'unverifiable', sinceMs: CUT_AT_MS, why: 'Connection reset' });
    await setImmediate();
  }

  mend(): void {
    this.#set(this.#live);
  }

  #set(state: MachineState): void {
    this.state = state;
    this.#states.fire(state);
  }

  async call<K extends keyof LinkMethods>(
    name: K,
    args: LinkMethods[K]['args'],
    request: LinkRequest,
  ): Promise<LinkMethods[K]['value']> {
    this.calls.push({ name, args, request });
    await this.#answering();
    return this.#methods()[name](args);
  }

  async callTool(name: string, args: object, request: LinkRequest): Promise<Record<string, unknown>> {
    this.toolCalls.push({ name, args, request });
    await this.#answering();
    return this.answer(name, args);
  }

  /** What an agent there shows: gets the bytes from here, gives those to here. */
  keeper: (channel: FarChannel) => void = () => undefined;
  /** Channels that are open now, and attempts to open one. */
  readonly channels = new Set<FarChannel>();
  tries = 0;
  /** What the near end sends is lost, and no answer comes. */
  isDeaf = false;

  async openChannel(what: LinkMethods['channel.open']['args']): Promise<Channel> {
    this.tries++;
    this.#mustAnswer();
    this.#open();
    const channel = new FarChannel(() => this.channels.delete(channel));
    this.channels.add(channel);
    if (what.kind === 'terminal') this.keeper(channel);
    else this.#follow(channel, what.task_id);
    return channel;
  }

  #follow(channel: FarChannel, taskId: string | undefined): void {
    const watch = this.tasks.watch(taskId ?? 'active');
    const changes = this.tasks.onDidChange((id) => (taskId ?? id) === id && channel.give(id));
    channel.onClose(() => {
      watch.dispose();
      changes.dispose();
    });
  }

  #open(): void {
    if (this.state.how === 'closed') this.mend();
  }

  async #answering(): Promise<void> {
    this.#mustAnswer();
    this.#open();
    if (!this.isDeaf) return;
    await new Promise<void>((resolve) => this.#pending.add(resolve));
    throw unreachable(this.name, 'unknown', 'Connection reset', CUT_AT_MS);
  }

  #mustAnswer(): void {
    const { state } = this;
    if (state.how === 'unverifiable') throw unreachable(this.name, 'not_sent', state.why, state.sinceMs);
  }

  #methods(): {
    [K in keyof LinkMethods]: (args: LinkMethods[K]['args']) => Promise<LinkMethods[K]['value']>;
  } {
    const { tasks } = this;
    const unused = (): never => {
      throw new Error('this machine does not do that');
    };
    return {
      ping: unused,
      'task.get': ({ task_id }) => tasks.get(task_id),
      'task.list': async ({ limit = Infinity, ...query }) => {
        const { tasks: records, cursor } = await tasks.list({ ...query, limit });
        return { tasks: [...records], cursor };
      },
      'task.kill': ({ task_id, reason }) => tasks.kill(task_id, reason),
      'task.respond': ({ task_id, answer }) => tasks.respond(task_id, answer),
      'task.message': ({ task_id, ...message }) => tasks.message(task_id, message),
      'task.output': async ({ task_id, view, cursor, max_bytes }) => {
        const { totalBytes, ...page } = await tasks.output({
          taskId: task_id,
          view,
          cursor,
          maxBytes: max_bytes,
        });
        return { ...page, total_bytes: totalBytes };
      },
      'task.receipt': async () => ({ receipt: null }),
      'task.patch': async () => ({ notes: ['The task changed nothing.'] }),
      'task.prompt': async () => ({ text: 'Fix the login there' }),
      'task.act': async ({ action }) => this.act(action),
      'channel.open': unused,
    };
  }
}

export function machinesOf(...all: readonly Machine[]): Machines {
  return {
    all,
    get: (name) => {
      const found = all.find((one) => one.name === name);
      if (found !== undefined) return found;
      throw new BridgeError('MACHINE_NOT_FOUND', `There is no machine ${name}.`, '');
    },
    dispose: () => undefined,
  };
}

/** Settings that narrow nothing. */
export const limits: MachineTasksOptions['limits'] = { modes: ALL_MODES, rules: [] };
