import type { Clock } from '../../../src/base/clock.js';
import { Emitter, DisposableStore, type Disposable } from '../../../src/base/lifecycle.js';
import {
  BoardClient,
  type ConnectionState,
  type Follower,
  type Link,
  type LinkEvents,
} from '../../../src/board/client.js';
import type {
  ActionAnswer,
  ActionError,
  ClientAction,
  Outcome,
  ServerMessage,
} from '../../../src/board/protocol.js';
import { boardOf, emptyBoard, type BoardState } from '../../../src/board/state.js';

export interface BoardConnectionOptions {
  /** Opens a link; undefined where no board runs. `isWanted`: a person has asked for the board; `mayStart`: just now. */
  readonly open: (events: LinkEvents, isWanted: boolean, mayStart: boolean) => Promise<Link | undefined>;
  readonly clock: Clock;
}

/** The board refused what was asked for, or did not answer; its message says what to do. */
export class BoardRefusal extends Error {
  readonly code: string;

  constructor({ code, message, hint }: ActionError) {
    super(hint === '' ? message : `${message} ${hint}`);
    this.code = code;
  }
}

/** This window's connection to the board, for all that it shows of it. */
export class BoardConnection implements Disposable {
  readonly #client: BoardClient;
  readonly #owned = new DisposableStore();
  readonly #changes = this.#owned.add(new Emitter<void>());
  #board: BoardState = emptyBoard;
  #welcome: Extract<ServerMessage, { type: 'welcome' }> | undefined;
  #isWanted = false;
  #mayStart = false;
  /** Its status or the overview has changed. */
  readonly onChange = this.#changes.event;

  constructor({ open, clock }: BoardConnectionOptions) {
    this.#client = this.#owned.add(
      new BoardClient((events) => {
        const mayStart = this.#mayStart;
        this.#mayStart = false;
        return open(events, this.#isWanted, mayStart);
      }, clock),
    );
    this.#client.onWelcome((welcome) => (this.#welcome = welcome));
    this.#client.onState(() => this.#changes.fire());
    this.follow('board:/', {
      changed: (values) => {
        this.#board = boardOf(values);
        this.#changes.fire();
      },
    });
  }

  get status(): ConnectionState {
    return this.#client.state;
  }

  /** All tasks and open decisions; empty before the board has sent them. */
  get board(): BoardState {
    return this.#board;
  }

  /** What the board said when it was reached last. */
  get welcome(): Extract<ServerMessage, { type: 'welcome' }> | undefined {
    return this.#welcome;
  }

  /** Connects, also again, as after a change of the settings. */
  start(): void {
    this.#client.connect();
  }

  /** A person wants to see the board: it is started if none runs, now and not again. */
  want(): void {
    this.#isWanted = true;
    if (this.status.how === 'open') return;
    this.#mayStart = true;
    this.#client.connect();
  }

  follow(channel: string, follower: Follower): Disposable {
    return this.#client.follow(channel, follower);
  }

  /** What became of what a person asked for. Never rejects. */
  outcome(action: ClientAction): Promise<Outcome> {
    return this.#client.act(action);
  }

  /** Does what a person asked for. Throws BoardRefusal. */
  async act(action: ClientAction): Promise<ActionAnswer> {
    const outcome = await this.#client.act(action);
    if (outcome.ok) return outcome;
    throw new BoardRefusal(outcome.error);
  }

  dispose(): void {
    this.#owned.dispose();
  }
}
