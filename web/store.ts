import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { ActionAnswer, ActionError, ClientAction, ServerMessage } from '../src/board/protocol.js';
import {
  applyMessage,
  newReplica,
  outdated,
  type ChannelMessage,
  type Replica,
} from '../src/board/replica.js';
import {
  reduceBoard,
  reduceDiff,
  reduceTask,
  type BoardAction,
  type BoardState,
  type DiffAction,
  type DiffState,
  type TaskAction,
  type TaskState,
} from '../src/board/state.js';
import type { TerminalAction, TerminalState } from '../src/board/protocol.js';
import type { ConnectionState, Transport } from './transport/transport.js';

export type Outcome =
  ({ readonly ok: true } & ActionAnswer) | { readonly ok: false; readonly error: ActionError };

/** A channel that one view follows. */
export interface Followed<S> {
  readonly state: ReadonlySignal<S | undefined>;
  readonly close: () => void;
}

/** Bytes of a terminal: what they are, and the number of the first one. */
export interface TerminalBytes {
  readonly kind: number;
  readonly stream: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** An answer that comes later than this is said not to have come. */
const RESULT_LIMIT_MS = 40_000;
/** The board takes messages of 1 MB; a character may take three bytes. */
const MAX_ACTION_CHARS = 300_000;
const BOARD = 'board:/';
const FRAME_HEAD_BYTES = 13;

/** All that the page knows: copies of the channels that it follows, and the connection. */
export class Store {
  readonly connection = signal<ConnectionState>({ how: 'connecting' });
  /** The name of this page as others see it. */
  readonly client = signal('');
  readonly home = signal('');
  readonly version = signal('');
  readonly #board = signal<Replica<BoardState>>(newReplica);
  readonly #task = signal<Replica<TaskState>>(newReplica);
  readonly #diff = signal<Replica<DiffState>>(newReplica);
  readonly #terminal = signal<Replica<TerminalState>>(newReplica);
  /** The task whose page is open. */
  readonly openTask = signal<string | undefined>(undefined);
  /** Why the page of the task cannot be shown. */
  readonly taskError = signal<ActionError | undefined>(undefined);
  readonly board: ReadonlySignal<BoardState | undefined> = computed(() => this.#board.value.state);
  readonly task: ReadonlySignal<TaskState | undefined> = computed(() => this.#task.value.state);
  readonly diff: ReadonlySignal<DiffState | undefined> = computed(() => this.#diff.value.state);
  readonly terminal: ReadonlySignal<TerminalState | undefined> = computed(() => this.#terminal.value.state);
  readonly #transport: Transport;
  readonly #waiting = new Map<number, (outcome: Outcome) => void>();
  #boardId = '';
  #diffTask: string | undefined;
  #terminalTask: string | undefined;
  #onBytes: ((bytes: TerminalBytes) => void) | undefined;
  /** By channel: takes a message, or subscribes again. */
  readonly #followed = new Map<
    string,
    { take(message: AnyMessage): void; subscribe(isSame: boolean): void }
  >();
  #ids = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
    transport.onState((state) => this.#connected(state));
    transport.onMessage((message) => this.#received(message));
    transport.onFrame((frame) => this.#onFrame(frame));
    transport.start();
  }

  /** Shows a task, or the overview alone. */
  open(taskId: string | undefined): void {
    const before = this.openTask.value;
    if (before === taskId) return;
    if (before !== undefined) this.#transport.unsubscribe(`task:/${before}`);
    this.openTask.value = taskId;
    this.#task.value = newReplica;
    this.taskError.value = undefined;
    if (taskId !== undefined) this.#transport.subscribe(`task:/${taskId}`, undefined);
  }

  /** Follows what a task changed until the result is called. */
  openDiff(taskId: string): () => void {
    this.#diffTask = taskId;
    this.#diff.value = newReplica;
    this.#transport.subscribe(`diff:/${taskId}`, undefined);
    return () => {
      this.#transport.unsubscribe(`diff:/${taskId}`);
      if (this.#diffTask !== taskId) return;
      this.#diffTask = undefined;
      this.#diff.value = newReplica;
    };
  }

  /** Follows the terminal of a task until the result is called. */
  openTerminal(taskId: string, onBytes: (bytes: TerminalBytes) => void): () => void {
    this.#terminalTask = taskId;
    this.#terminal.value = newReplica;
    this.#onBytes = onBytes;
    this.#transport.subscribe(`term:/${taskId}`, undefined);
    return () => {
      this.#transport.unsubscribe(`term:/${taskId}`);
      if (this.#terminalTask !== taskId || this.#onBytes !== onBytes) return;
      this.#terminalTask = undefined;
      this.#onBytes = undefined;
      this.#terminal.value = newReplica;
    };
  }

  /** Follows a channel of which the store knows nothing else. */
  follow<S, A>(channel: string, reduce: (state: S, action: A) => S): Followed<S> {
    const replica = signal<Replica<S>>(newReplica);
    const isOf = (message: AnyMessage): message is AnyMessage & ChannelMessage<S, A> =>
      message.channel === channel;
    const followed = {
      take: (message: AnyMessage) => (replica.value = this.#next(replica.value, message, reduce, isOf)),
      subscribe: (isSame: boolean) => {
        if (!isSame) replica.value = outdated(replica.value);
        this.#transport.subscribe(channel, seqOf(replica.value));
      },
    };
    this.#followed.set(channel, followed);
    followed.subscribe(false);
    return {
      state: computed(() => replica.value.state),
      close: () => {
        if (this.#followed.get(channel) !== followed) return;
        this.#followed.delete(channel);
        this.#transport.unsubscribe(channel);
      },
    };
  }

  acknowledge(bytes: number): void {
    if (this.#terminalTask !== undefined) this.#transport.acknowledge(`term:/${this.#terminalTask}`, bytes);
  }

  /** Asks the board to do something; resolves with what became of it, and never rejects. */
  act(action: ClientAction): Promise<Outcome> {
    if (this.connection.value.how !== 'open') return Promise.resolve({ ok: false, error: lostConnection });
    const id = ++this.#ids;
    if (JSON.stringify(action).length > MAX_ACTION_CHARS)
      return Promise.resolve({ ok: false, error: tooLong });
    return new Promise((resolve) => {
      const timer = setTimeout(() => finish({ ok: false, error: noAnswer }), RESULT_LIMIT_MS);
      const finish = (outcome: Outcome): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(outcome);
      };
      this.#waiting.set(id, finish);
      this.#transport.dispatch(id, action);
    });
  }

  #connected(state: ConnectionState): void {
    this.connection.value = state;
    if (state.how === 'open') return;
    for (const finish of [...this.#waiting.values()]) finish({ ok: false, error: lostConnection });
  }

  #received(message: ServerMessage): void {
    switch (message.type) {
      case 'welcome':
        this.#welcomed(message);
        return;
      case 'result':
        this.#waiting.get(message.id)?.(message);
        return;
      case 'refused':
        if (message.channel === `task:/${this.openTask.value}`) this.taskError.value = message.error;
        return;
      default:
        this.#apply(message);
    }
  }

  /** What this page has is still good for the same board, and else nothing of it is. */
  #welcomed({ board_id, client, home, version }: Extract<ServerMessage, { type: 'welcome' }>): void {
    const isSame = board_id === this.#boardId;
    this.#boardId = board_id;
    this.client.value = client;
    this.home.value = home;
    this.version.value = version;
    if (!isSame) this.#outdate();
    this.#transport.subscribe(BOARD, seqOf(this.#board.value));
    const task = this.openTask.value;
    if (task !== undefined) this.#transport.subscribe(`task:/${task}`, seqOf(this.#task.value));
    if (this.#diffTask !== undefined)
      this.#transport.subscribe(`diff:/${this.#diffTask}`, seqOf(this.#diff.value));
    if (this.#terminalTask !== undefined) this.#transport.subscribe(`term:/${this.#terminalTask}`, undefined);
    for (const followed of this.#followed.values()) followed.subscribe(isSame);
  }

  /** The numbers of another board have nothing to do with those of the one before. */
  #outdate(): void {
    this.#board.value = outdated(this.#board.value);
    this.#task.value = outdated(this.#task.value);
    this.#diff.value = outdated(this.#diff.value);
    this.#terminal.value = outdated(this.#terminal.value);
  }

  #apply(message: Exclude<ServerMessage, { type: 'welcome' | 'result' | 'refused' }>): void {
    const { channel } = message;
    if (channel === BOARD) this.#board.value = this.#next(this.#board.value, message, reduceBoard, isOfBoard);
    else if (channel === `task:/${this.openTask.value}`)
      this.#task.value = this.#next(this.#task.value, message, reduceTask, isOfTask);
    else if (channel === `diff:/${this.#diffTask}`)
      this.#diff.value = this.#next(this.#diff.value, message, reduceDiff, isOfDiff);
    else if (channel === `term:/${this.#terminalTask}`)
      this.#terminal.value = this.#next(this.#terminal.value, message, reduceTerminal, isOfTerminal);
    else this.#followed.get(channel)?.take(message);
  }

  #next<S, A>(
    replica: Replica<S>,
    message: AnyMessage,
    reduce: (state: S, action: A) => S,
    isOf: (message: AnyMessage) => message is AnyMessage & ChannelMessage<S, A>,
  ): Replica<S> {
    if (!isOf(message)) return replica;
    const next = applyMessage(replica, message, reduce);
    if (next.isBehind && !replica.isBehind && message.type === 'action')
      this.#transport.subscribe(message.channel, next.state === undefined ? undefined : next.seq);
    return next;
  }

  #onFrame(frame: ArrayBuffer): void {
    const head = new DataView(frame);
    if (frame.byteLength < FRAME_HEAD_BYTES) return;
    this.#onBytes?.({
      kind: head.getUint8(0),
      stream: head.getUint32(1),
      offset: Number(head.getBigUint64(5)),
      bytes: new Uint8Array(frame, FRAME_HEAD_BYTES),
    });
  }
}

/** The number of the last action that a replica has; undefined when it needs a snapshot. */
function seqOf({ state, seq, isBehind }: Replica<unknown>): number | undefined {
  return state === undefined || isBehind ? undefined : seq;
}

type AnyMessage = Exclude<ServerMessage, { type: 'welcome' | 'result' | 'refused' }>;

function isOfBoard(message: AnyMessage): message is AnyMessage & ChannelMessage<BoardState, BoardAction> {
  return message.channel === BOARD;
}

function isOfTask(message: AnyMessage): message is AnyMessage & ChannelMessage<TaskState, TaskAction> {
  return message.channel.startsWith('task:/');
}

function isOfDiff(message: AnyMessage): message is AnyMessage & ChannelMessage<DiffState, DiffAction> {
  return message.channel.startsWith('diff:/');
}

function isOfTerminal(
  message: AnyMessage,
): message is AnyMessage & ChannelMessage<TerminalState, TerminalAction> {
  return message.channel.startsWith('term:/');
}

function reduceTerminal(state: TerminalState, { type: _type, ...change }: TerminalAction): TerminalState {
  return { ...state, ...change };
}

const lostConnection: ActionError = {
  code: 'TASK_UNREACHABLE',
  message: 'The board is not connected.',
  hint: 'The page connects again; then try once more.',
};

const tooLong: ActionError = {
  code: 'INVALID_ARGUMENTS',
  message: 'This is too long for one message.',
  hint: 'Write it into a file of the project and name the file.',
};

const noAnswer: ActionError = {
  code: 'TASK_UNREACHABLE',
  message: 'The board did not answer.',
  hint: 'Look at the task to see what became of it.',
};
