import { signal, type Signal } from '@preact/signals';
import { BoardClient, type ConnectionState, type OpenLink } from '../src/board/client.js';
import { bytesIn, type TerminalBytes } from '../src/board/frame.js';
import type { ActionError, TerminalState } from '../src/board/protocol.js';
import {
  at,
  boardOf,
  diffOf,
  isOne,
  taskOf,
  type BoardState,
  type DiffState,
  type TaskState,
  type Values,
} from '../src/board/state.js';

const pageClock = {
  now: () => Date.now(),
  after: (delayMs: number, act: () => void) => {
    const timer = setTimeout(act, delayMs);
    return { dispose: () => clearTimeout(timer) };
  },
};

/** What the page shows: the channels that it follows, and the connection. */
export class Store extends BoardClient {
  readonly connection = signal<ConnectionState>({ how: 'connecting' });
  /** The name of this page as others see it. */
  readonly client = signal('');
  readonly home = signal('');
  readonly version = signal('');
  /** The task whose page is open. */
  readonly openTask = signal<string | undefined>(undefined);
  /** Why the page of the task cannot be shown. */
  readonly taskError = signal<ActionError | undefined>(undefined);
  readonly board = signal<BoardState | undefined>(undefined);
  /** Of the task that is open. */
  readonly task = signal<TaskState | undefined>(undefined);
  readonly diff = signal<DiffState | undefined>(undefined);
  readonly terminal = signal<TerminalState | undefined>(undefined);
  #closeTask = (): void => undefined;

  constructor(open: OpenLink) {
    super(open, pageClock);
    this.onState((state) => (this.connection.value = state));
    this.onWelcome(({ client, home, version }) => {
      this.client.value = client;
      this.home.value = home;
      this.version.value = version;
    });
    this.#show(this.board, 'board:/', boardOf);
    this.connect();
  }

  /** Shows a task, or the overview alone. */
  open(taskId: string | undefined): void {
    if (this.openTask.value === taskId) return;
    this.#closeTask();
    this.openTask.value = taskId;
    this.taskError.value = undefined;
    this.#closeTask =
      taskId === undefined
        ? () => undefined
        : this.#show(this.task, `task:/${taskId}`, taskOf, (error) => (this.taskError.value = error));
  }

  /** Follows what a task changed until the result is called. */
  openDiff(taskId: string): () => void {
    return this.#show(this.diff, `diff:/${taskId}`, diffOf);
  }

  /** Follows the terminal of a task until the result is called. */
  openTerminal(taskId: string, onBytes: (bytes: TerminalBytes) => void): () => void {
    const close = this.#show(this.terminal, `term:/${taskId}`, (values) =>
      at(values, 'terminal', isOne<TerminalState>),
    );
    const frames = this.onFrame((frame) => {
      const bytes = bytesIn(frame);
      if (bytes !== undefined && bytes.stream === this.terminal.value?.stream) onBytes(bytes);
    });
    return () => {
      frames.dispose();
      close();
    };
  }

  #show<S>(
    shown: Signal<S | undefined>,
    channel: string,
    read: (values: Values) => S | undefined,
    refused?: (error: ActionError) => void,
  ): () => void {
    shown.value = undefined;
    let mine: S | undefined;
    const following = this.follow(channel, {
      changed: (values) => (shown.value = mine = read(values)),
      ...(refused !== undefined && { refused }),
    });
    return () => {
      following.dispose();
      // Something else may be shown by now.
      if (shown.value === mine) shown.value = undefined;
    };
  }
}
