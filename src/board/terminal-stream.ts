import { BridgeError, messageOf } from '../base/errors.js';
import { DisposableStore, Emitter, toDisposable, type Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { KeeperClient } from '../keeper/host/keeper-client.js';
import type { TerminalPush } from '../keeper/wire/messages.js';
import type { FarPlace, MachineTasks } from '../machines/machine-tasks.js';
import { unreachable } from '../machines/unreachable.js';
import { SafeOutput } from '../screen/safe-output.js';
import { isFinal, type TaskRecord } from '../tasks/task.js';
import { frameKinds, frameOf } from './frame.js';
import type { ClientAction, TerminalState } from './protocol.js';

/** The keeper is read no further while a page has this much that it has not shown. */
const PAUSE_ABOVE_BYTES = 512 * 1024;
const RESUME_BELOW_BYTES = 128 * 1024;
/** Lines above the screen that a page can scroll back to. */
const SCROLLBACK_LINES = 1_000;
/** A page that is loaded again, and a board that is started again, are back by then. */
const HOLD_SECONDS = 60;

/** What a page does to its terminal. */
export type TerminalClientAction = Extract<ClientAction, { readonly type: `term.${string}` }>;

type Size = Pick<TerminalState, 'columns' | 'rows'>;

export interface TerminalStreamOptions {
  readonly taskId: string;
  /** The number of a stream that the page does not have yet. */
  readonly nextStream: () => number;
  readonly client: string;
  readonly writers: TerminalWriters;
  readonly record: (taskId: string) => Promise<TaskRecord>;
  /** Left out where no machine is set. */
  readonly far?: MachineTasks | undefined;
  /** Its size is sent before what is drawn in it. */
  readonly sendState: (state: TerminalState) => void;
  /** Sends a binary message to the page. */
  readonly sendFrame: (frame: Uint8Array) => void;
  readonly logger: Logger;
}

/**
 * One page's view of a running task's terminal, over a connection to the keeper of its own: it only watches, in the size that the
 * session has, until the page claims the terminal.
 */
export class TerminalStream implements Disposable {
  readonly client: string;
  readonly #options: TerminalStreamOptions;
  readonly #owned = new DisposableStore();
  #state: TerminalState;
  #opening: Promise<void> = Promise.resolve();
  #link: KeeperClient | undefined;
  /** Of a task of another machine. */
  #place: FarPlace | undefined;
  #lineBack: Disposable | undefined;
  /** A far keeper has filtered its output, and is not trusted with the terminal of a page. */
  #safe = new SafeOutput();
  #sentBytes = 0;
  #shownBytes = 0;
  #isPaused = false;
  /** It is shown: its size is that of the session. */
  #isWatching = false;
  #isFitting = false;

  constructor(options: TerminalStreamOptions) {
    this.#options = options;
    this.client = options.client;
    const { nextStream, writers, taskId } = options;
    const writer = writers.writerOf(taskId)?.client ?? null;
    this.#state = { stream: nextStream(), columns: 80, rows: 24, writer, closed: null };
    this.#owned.add(toDisposable(() => writers.release(taskId, this)));
    this.#owned.add(writers.onChange((changed) => changed === taskId && this.#writerChanged()));
  }

  /** Connects to the keeper. A terminal that cannot be seen says why in its state. */
  start(): Promise<void> {
    this.#change({});
    return (this.#opening = this.#open());
  }

  async #open(): Promise<void> {
    const { taskId, record, far } = this.#options;
    try {
      this.#place = far?.placeOf(taskId);
      const task = await record(taskId);
      if (isFinal(task.status)) return this.#close(`The task has ended: ${task.reason}`);
      if (task.keeper === null) return this.#close('The task has not started yet.');
      const place = this.#place;
      const link = await (place === undefined
        ? KeeperClient.connect(taskId, task.socket_path)
        : place.far.terminal(place.id));
      if (link === undefined) return this.#close('The keeper of the task is gone.');
      this.#link = this.#owned.add(link);
      if (this.#owned.isDisposed) return;
      this.#owned.add(link.onTerminal((push) => this.#show(push)));
      this.#owned.add(link.onDidClose(() => this.#lost('The session has ended.')));
      await this.#watchAt(await link.screen(), SCROLLBACK_LINES);
      this.#isWatching = true;
    } catch (error) {
      this.#lost(messageOf(error));
    }
  }

  /** Where the line to a machine is cut, the terminal is drawn again as another stream when it is back. */
  #lost(why: string): void {
    const machine = this.#place?.far.machine;
    if (machine?.state.how !== 'unverifiable') return this.#close(why);
    this.#link?.dispose();
    this.#link = undefined;
    this.#isWatching = false;
    this.#lineBack?.dispose();
    this.#lineBack = this.#owned.add(
      machine.onState(({ how }) => {
        if (how !== 'live') return;
        this.#lineBack?.dispose();
        this.#sentBytes = this.#shownBytes = 0;
        this.#isPaused = false;
        this.#safe = new SafeOutput();
        this.#change({ stream: this.#options.nextStream() });
        this.#opening = this.#open();
      }),
    );
  }

  /** Throws INVALID_ARGUMENTS for keys of a page that has not claimed the terminal, TASK_NOT_RUNNING when nothing takes them. */
  async act(action: TerminalClientAction): Promise<void> {
    const { writers, taskId } = this.#options;
    switch (action.type) {
      case 'term.claim':
        // The page offers it as soon as it knows of the terminal.
        await this.#opening;
        this.#openLink();
        writers.claim(taskId, this);
        return this.#watchAt(action);
      case 'term.release':
        if (!this.#isWriter) return;
        writers.release(taskId, this);
        return this.#fit();
      case 'term.resize':
        if (this.#isWriter) await this.#watchAt(action);
        return;
      case 'term.input': {
        const link = this.#openLink();
        if (this.#isWriter) return link.type(Buffer.from(action.keys, 'base64'));
        throw new BridgeError(
          'INVALID_ARGUMENTS',
          'Another page has the keyboard of this terminal, or no page has.',
          'Take it over first.',
        );
      }
    }
  }

  /** The page has shown so many bytes since it subscribed. */
  acknowledge(bytes: number): void {
    this.#shownBytes = Math.max(this.#shownBytes, Math.min(bytes, this.#sentBytes));
    if (!this.#isPaused || this.#sentBytes - this.#shownBytes >= RESUME_BELOW_BYTES) return;
    this.#isPaused = false;
    this.#link?.resume();
  }

  /** The page no longer shows the terminal, so it holds the session no longer, as a page that is lost does for a while. */
  async leave(): Promise<void> {
    const { writers, taskId } = this.#options;
    try {
      if (!this.#isWriter) return;
      writers.release(taskId, this);
      await this.#watchAt(this.#state);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.dispose();
    }
  }

  /** The page is lost. */
  dispose(): void {
    this.#owned.dispose();
  }

  #writerChanged(): void {
    const writer = this.#options.writers.writerOf(this.#options.taskId)?.client ?? null;
    if (this.#state.writer === writer) return;
    const wasWriter = this.#state.writer === this.client;
    this.#change({ writer });
    if (wasWriter) void this.#fit();
  }

  #change(change: Partial<TerminalState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.sendState(this.#state);
  }

  get #isWriter(): boolean {
    return this.#options.writers.writerOf(this.#options.taskId) === this;
  }

  #openLink(): KeeperClient {
    const { closed } = this.#state;
    if (this.#link !== undefined && closed === null) return this.#link;
    const { name = '', state } = this.#place?.far.machine ?? {};
    if (state?.how === 'unverifiable') throw unreachable(name, 'not_sent', state.why, state.sinceMs);
    throw new BridgeError(
      'TASK_NOT_RUNNING',
      closed ?? 'The terminal is not open yet.',
      'The log of the task says what was in it.',
    );
  }

  async #watchAt({ columns, rows }: Size, scrollback = 0): Promise<void> {
    this.#change({ columns, rows });
    await this.#link?.watch({
      ...{ columns, rows, scrollback, covered: false, hold_seconds: HOLD_SECONDS },
      read_only: !this.#isWriter,
    });
  }

  /** Only watches, in the size of the session, which another page or `attach` decides. Never rejects. */
  async #fit(): Promise<void> {
    if (this.#link === undefined || !this.#isWatching || this.#isFitting) return;
    this.#isFitting = true;
    try {
      const session = await this.#link.screen();
      if (!this.#isWriter) await this.#watchAt(session);
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#isFitting = false;
    }
  }

  #failed(error: unknown): void {
    const { logger, taskId } = this.#options;
    logger.debug('A terminal could not be fitted', { taskId, error: messageOf(error) });
  }

  #show({ kind, data }: TerminalPush): void {
    const { sendFrame } = this.#options;
    const { stream } = this.#state;
    const bytes = this.#shown(kind, Buffer.from(data, 'base64'));
    sendFrame(frameOf({ kind: frameKinds[kind], stream, offset: this.#sentBytes, bytes }));
    this.#sentBytes += bytes.length;
    // The session has another size than this page.
    if (!this.#isWriter && kind === 'picture') void this.#fit();
    if (this.#isPaused || this.#sentBytes - this.#shownBytes <= PAUSE_ABOVE_BYTES) return;
    this.#isPaused = true;
    this.#link?.pause();
  }

  #shown(kind: TerminalPush['kind'], bytes: Buffer): Buffer {
    if (this.#place === undefined) return bytes;
    if (kind !== 'output') this.#safe = new SafeOutput();
    return Buffer.from(this.#safe.filter(bytes));
  }

  #close(why: string): void {
    if (this.#state.closed !== null || this.#owned.isDisposed) return;
    this.#change({ closed: why, writer: null });
  }
}

/** Which page types into which terminal: one at a time. The newest page that asks for it has it. */
export class TerminalWriters {
  readonly #writers = new Map<string, TerminalStream>();
  readonly #changes = new Emitter<string>();
  /** The id of a task whose writer is another one, or none. */
  readonly onChange = this.#changes.event;

  writerOf(taskId: string): TerminalStream | undefined {
    return this.#writers.get(taskId);
  }

  claim(taskId: string, page: TerminalStream): void {
    this.#writers.set(taskId, page);
    this.#changes.fire(taskId);
  }

  release(taskId: string, page: TerminalStream): void {
    if (this.#writers.get(taskId) !== page) return;
    this.#writers.delete(taskId);
    this.#changes.fire(taskId);
  }
}
