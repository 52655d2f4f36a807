// Pure.
import type { Clock } from '../../../../src/base/clock.js';
import { Emitter } from '../../../../src/base/event.js';
import { toDisposable, type Disposable } from '../../../../src/base/lifecycle.js';
import type { Follower } from '../../../../src/board/client.js';
import { diffOf, type DiffState } from '../../../../src/board/state.js';
import { BoardRefusal } from '../../board/board-connection.js';
import { deferred, type Deferred } from '../../deferred.js';

const FIRST_STATE_LIMIT_MS = 40_000;

/** The connection to the board, as far as it is used here. */
export interface DiffSource {
  follow(channel: string, follower: Follower): Disposable;
}

/** The right to what a task changed, until it is disposed. */
export interface HeldDiff extends Disposable {
  /** The first state. Rejects when the board refuses the channel or sends nothing in 40 s. */
  readonly ready: Promise<DiffState>;
}

interface Followed {
  readonly first: Deferred<DiffState>;
  stop: () => void;
  holders: number;
  state: DiffState | undefined;
}

/** What tasks changed, each followed as long as somebody holds it. */
export class FollowedDiffs implements Disposable {
  readonly #board: DiffSource;
  readonly #clock: Clock;
  readonly #followed = new Map<string, Followed>();
  readonly #changes = new Emitter<string>();
  /** The id of a task of which a file changed. */
  readonly onChange = this.#changes.event;

  constructor(board: DiffSource, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
  }

  hold(taskId: string): HeldDiff {
    const followed = this.#followed.get(taskId) ?? this.#follow(taskId);
    followed.holders++;
    const release = toDisposable(() => {
      followed.holders--;
      if (followed.holders > 0 || this.#followed.get(taskId) !== followed) return;
      this.#followed.delete(taskId);
      followed.stop();
    });
    const { state, first } = followed;
    return {
      ready: state === undefined ? first.promise : Promise.resolve(state),
      dispose: () => release.dispose(),
    };
  }

  dispose(): void {
    for (const { stop } of this.#followed.values()) stop();
    this.#followed.clear();
    this.#changes.dispose();
  }

  #follow(taskId: string): Followed {
    const first = deferred<DiffState>();
    // The caller reports the error.
    first.promise.catch(() => undefined);
    const limit = this.#clock.after(FIRST_STATE_LIMIT_MS, () =>
      first.reject(new Error('The board does not say what the task changed. Try once more.')),
    );
    const followed: Followed = { first, stop: () => undefined, holders: 0, state: undefined };
    const channel = this.#board.follow(`diff:/${taskId}`, {
      changed: (values) => {
        followed.state = diffOf(values);
        limit.dispose();
        first.resolve(followed.state);
        this.#changes.fire(taskId);
      },
      refused: (error) => first.reject(new BoardRefusal(error)),
    });
    followed.stop = () => {
      limit.dispose();
      channel.dispose();
      first.reject(new Error('It is followed no longer.'));
    };
    this.#followed.set(taskId, followed);
    return followed;
  }
}
