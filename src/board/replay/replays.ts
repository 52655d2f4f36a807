import { BridgeError } from '../../base/errors.js';
import { Channel } from '../channel.js';
import type { OpenChannel } from '../hub.js';
import type { ActionAnswer, ReplayClientAction } from '../protocol.js';
import { ReplayFeed, type ReplayOptions } from './replay-feed.js';
import { emptyReplay, reduceReplay, type ReplayAction, type ReplayState } from './replay-state.js';

/** The recordings that pages look at. Each is read once, however many pages do, and let go when none does. */
export class Replays {
  readonly #options: ReplayOptions;
  readonly #open = new Map<string, ReplayFeed>();

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  /** Throws TASK_NOT_FOUND, STATE_UNUSABLE, TASK_UNREACHABLE. */
  async open(name: string, taskId: string, seq: number): Promise<OpenChannel> {
    const channel = new Channel<ReplayState, ReplayAction>(name, emptyReplay, reduceReplay, seq);
    const feed = new ReplayFeed(this.#options, taskId, channel);
    try {
      await feed.start();
    } catch (error) {
      feed.dispose();
      throw error;
    }
    this.#open.set(taskId, feed);
    const dispose = (): void => {
      if (this.#open.get(taskId) === feed) this.#open.delete(taskId);
      feed.dispose();
    };
    return { channel, dispose };
  }

  /** Throws INVALID_ARGUMENTS for a recording that no page looks at, and as the methods of ReplayFeed. */
  async act(action: ReplayClientAction): Promise<ActionAnswer> {
    const feed = this.#open.get(action.task_id);
    if (feed === undefined) {
      throw new BridgeError('INVALID_ARGUMENTS', 'The page does not show this recording.', 'Open it first.');
    }
    switch (action.type) {
      case 'replay.seek':
        return { screen: await feed.seek(action.ms) };
      case 'replay.read':
        return { piece: await feed.read(action.from) };
      case 'replay.files':
        return { files: await feed.files(action.commit, action.since) };
    }
  }
}
