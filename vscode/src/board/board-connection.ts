import type { Clock } from '../../../src/base/clock.js';
import { Emitter } from '../../../src/base/lifecycle.js';
import { BoardClient, type Link, type LinkEvents } from '../../../src/board/client.js';
import type { ActionAnswer, ActionError, ClientAction, ServerMessage } from '../../../src/board/protocol.js';
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
export class BoardConnection extends BoardClient {
  readonly #changes = new Emitter<void>();
  readonly #request: { isWanted: boolean; mayStart: boolean };
  #board: BoardState = emptyBoard;
  #welcome: Extract<ServerMessage, { type: 'welcome' }> | undefined;
  /** Its state or the overview has changed. */
  readonly onChange = this.#changes.event;

  constructor({ open, clock }: BoardConnectionOptions) {
    const request = { isWanted: false, mayStart: false };
    super((events) => {
      const { isWanted, mayStart } = request;
      request.mayStart = false;
      return open(events, isWanted, mayStart);
    }, clock);
    this.#request = request;
    this.onWelcome((welcome) => (this.#welcome = welcome));
    this.onState(() => this.#changes.fire());
    this.follow('board:/', {
      changed: (values) => {
        this.#board = boardOf(values);
        this.#changes.fire();
      },
    });
  }

  /** All tasks and open decisions; empty before the board has sent them. */
  get board(): BoardState {
    return this.#board;
  }

  /** What the board said when it was reached last. */
  get welcome(): Extract<ServerMessage, { type: 'welcome' }> | undefined {
    return this.#welcome;
  }

  /** A person wants to see the board: it is started if none runs, now and not again. */
  want(): void {
    this.#request.isWanted = true;
    if (this.state.how === 'open') return;
    this.#request.mayStart = true;
    this.connect();
  }

  /** Does what a person asked for. Throws BoardRefusal. */
  async do(action: ClientAction): Promise<ActionAnswer> {
    const outcome = await this.act(action);
    if (outcome.ok) return outcome;
    throw new BoardRefusal(outcome.error);
  }
}
