import type { Clock } from '../../base/clock.js';
import type { Disposable } from '../../base/lifecycle.js';
import type { Machine } from '../../machines/machine.js';
import { SafeOutput } from '../../screen/safe-output.js';
import { bytesIn, frameKinds, frameOf } from '../frame.js';
import type { Outcome, TerminalState } from '../protocol.js';
import { at, isOne, type Values } from '../state.js';
import type { PageTerminal, TerminalClientAction } from '../terminal-stream.js';
import { FarClient } from './far-client.js';

/** A board pauses a terminal of which a page has not shown 512 kB; a picture with its history comes on top. */
const MAX_UNSHOWN_BYTES = 16 * 1024 * 1024;

export interface FarTerminalOptions {
  readonly machine: string;
  /** As it is called over there. */
  readonly taskId: string;
  /** The page, as others see it. */
  readonly client: string;
  /** The number of a stream that the page does not have yet. */
  readonly nextStream: () => number;
  /** Its size is sent before what is drawn in it. */
  readonly sendState: (state: TerminalState) => void;
  readonly sendFrame: (frame: Uint8Array) => void;
}

/**
 * One page's view of a terminal of another machine, over a channel of its own, so that it holds up nothing else. When the line is back
 * after a cut, the far side draws the picture again, as a new stream.
 */
export class FarTerminal implements PageTerminal {
  readonly #options: FarTerminalOptions;
  readonly #board: FarClient;
  readonly #channel: string;
  #following: Disposable | undefined;
  /** The number over there, and the one of this page. */
  #streams: readonly [there: number, here: number] = [0, 0];
  #safe = new SafeOutput();
  /** The name of this page over there. */
  #client = '';
  #sentBytes = 0;
  #shownBytes = 0;

  constructor(options: FarTerminalOptions, machine: Machine, clock: Clock) {
    this.#options = options;
    this.#channel = `term:/${options.taskId}`;
    this.#board = new FarClient(machine, clock);
  }

  start(): void {
    this.#board.onWelcome(({ client }) => (this.#client = client));
    this.#board.onFrame((frame) => this.#frame(frame));
    const nothing = { columns: 80, rows: 24, writer: null };
    this.#following = this.#board.follow(this.#channel, {
      changed: (values) => this.#changed(values),
      refused: ({ message }) =>
        this.#options.sendState({ ...nothing, stream: this.#options.nextStream(), closed: message }),
    });
    this.#board.connect();
  }

  act(action: TerminalClientAction): Promise<Outcome> {
    return this.#board.actThere({ ...action, task_id: this.#options.taskId });
  }

  acknowledge(bytes: number): void {
    this.#shownBytes = bytes;
    this.#board.acknowledge(this.#channel, bytes);
  }

  /** The far side lets go of the terminal at once; of one that is lost it does not. */
  leave(): void {
    this.#following?.dispose();
    this.dispose();
  }

  dispose(): void {
    this.#board.dispose();
  }

  #changed(values: Values): void {
    const state = at(values, 'terminal', isOne<TerminalState>);
    if (state === undefined) return;
    const { nextStream, client, machine, sendState } = this.#options;
    if (state.stream !== this.#streams[0]) {
      this.#streams = [state.stream, nextStream()];
      this.#sentBytes = this.#shownBytes = 0;
    }
    const writer = state.writer === this.#client ? client : state.writer && `${state.writer} on ${machine}`;
    sendState({ ...state, stream: this.#streams[1], writer });
  }

  #frame(frame: Uint8Array): void {
    const read = bytesIn(frame);
    const isKnown = Object.values(frameKinds).some((kind) => kind === read?.kind);
    if (read === undefined || !isKnown || read.stream !== this.#streams[0]) return;
    if (read.kind !== frameKinds.output) this.#safe = new SafeOutput();
    // The far side has done so already, and is not trusted with the terminal of a page.
    const bytes = Buffer.from(this.#safe.filter(read.bytes));
    const [, stream] = this.#streams;
    this.#options.sendFrame(frameOf({ kind: read.kind, stream, offset: this.#sentBytes, bytes }));
    this.#sentBytes += bytes.length;
    if (this.#sentBytes - this.#shownBytes > MAX_UNSHOWN_BYTES) this.dispose();
  }
}
