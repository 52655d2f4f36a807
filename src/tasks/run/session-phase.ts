// Pure.
import type { TaskStatus } from '../task.js';

/** What the record says of the end. */
export interface Cause {
  readonly status: TaskStatus;
  readonly reason: string;
}

interface IdlePhase {
  readonly name: 'idle';
  /**
   * `starting`: the first turn has not begun. `background`: the turn is over, and what it started still runs. `sending`: the
   * next message is on its way. `message`: the session waits for one.
   */
  readonly why: 'starting' | 'background' | 'sending' | 'message';
  /** A caller or a person stopped the turn before it. */
  readonly interrupted?: boolean;
  /** What of the turn before goes on, in words. */
  readonly goesOn?: string;
}

/** The turn ended by trouble, and the next one has not begun. */
interface BlockedPhase {
  readonly name: 'blocked';
  /** In words, for the status. */
  readonly reason: string;
  /** The session has taken a message to go on. */
  readonly isTrying: boolean;
}

/** Where a session is. `leaving` without a cause: its work is done. */
export type Phase =
  | { readonly name: 'turn' }
  | IdlePhase
  | BlockedPhase
  | { readonly name: 'leaving'; readonly cause?: Cause }
  | { readonly name: 'ended'; readonly cause: Cause };

/** Which phase may follow which. */
const moves: Readonly<Record<Phase['name'], readonly Phase['name'][]>> = {
  turn: ['turn', 'idle', 'blocked', 'leaving'],
  idle: ['turn', 'idle', 'blocked', 'leaving'],
  blocked: ['turn', 'idle', 'blocked', 'leaving'],
  leaving: ['leaving', 'ended'],
  ended: [],
};

/** The first cause wins: a session that is left for a cause is left for no other. */
export function canFollow(from: Phase, to: Phase): boolean {
  if (from.name === 'leaving' && to.name === 'leaving') return from.cause === undefined;
  return moves[from.name].includes(to.name);
}

/** The phase of one session. The status `running` or `waiting` of its task follows from it. */
export class SessionPhase {
  #now: Phase = { name: 'idle', why: 'starting' };

  get now(): Phase {
    return this.#now;
  }

  /** Throws when `to` cannot follow: what comes from outside is asked about with `isOpen` first. */
  move(to: Phase): void {
    if (!canFollow(this.#now, to))
      throw new Error(`The phase of a session cannot go from ${this.#now.name} to ${to.name}.`);
    this.#now = to;
  }

  /** The session goes on: it is neither being left nor over. */
  get isOpen(): boolean {
    return this.#now.name !== 'leaving' && this.#now.name !== 'ended';
  }

  get isEnded(): boolean {
    return this.#now.name === 'ended';
  }

  /** Why the session is being left, or was; undefined while it goes on, and for one whose work is done. */
  get cause(): Cause | undefined {
    return 'cause' in this.#now ? this.#now.cause : undefined;
  }

  /** A turn runs, or is about to for a message that was sent. */
  get turnRuns(): boolean {
    return this.#now.name === 'turn' || (this.#now.name === 'blocked' && this.#now.isTrying);
  }

  /** A message can be sent: no turn runs. The first turn has its message from the start. */
  get takesMessage(): boolean {
    if (this.#now.name === 'blocked') return !this.#now.isTrying;
    return this.#now.name === 'idle' && this.#now.why !== 'starting';
  }

  isIdleFor(why: IdlePhase['why']): boolean {
    return this.#now.name === 'idle' && this.#now.why === why;
  }

  /** The turn ended by trouble, and the next one has not begun. */
  get isBetweenTries(): boolean {
    return this.#now.name === 'blocked';
  }

  /** The session has taken a message: a turn is about to begin. */
  messageSent(): void {
    this.move(this.#now.name === 'blocked' ? { ...this.#now, isTrying: true } : { name: 'turn' });
  }
}
