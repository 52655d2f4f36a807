import type { Clock } from '../base/clock.js';
import { BridgeError, messageOf } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import type { TaskService } from '../tasks/task-service.js';
import { Channel } from './channel.js';
import type { OpenChannel } from './hub.js';
import { emptyScreen, reduceScreen, type ScreenAction, type ScreenState } from './state.js';

/** A person reads no faster. The keeper says nothing when its screen changes, so it is asked. */
const LOOK_MS = 1_000;
/** Shorter than that of other channels: nobody asks a keeper for a screen that is not shown. */
const LINGER_MS = 2_000;
const MAX_SCREEN_BYTES = 64 * 1024;

export interface ScreenFeedOptions {
  readonly tasks: TaskService;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens the screen of one task as text. Throws TASK_NOT_FOUND, STATE_UNUSABLE. */
export async function openScreenFeed(
  options: ScreenFeedOptions,
  name: string,
  taskId: string,
  seq: number,
): Promise<OpenChannel> {
  await options.tasks.get(taskId);
  const first = await screenOf(options, taskId);
  const channel = new Channel<ScreenState, ScreenAction>(name, first, reduceScreen, seq);
  const feed = new ScreenFeed(options, taskId, channel);
  return { channel, lingerMs: LINGER_MS, dispose: () => feed.dispose() };
}

class ScreenFeed implements Disposable {
  readonly #options: ScreenFeedOptions;
  readonly #taskId: string;
  readonly #channel: Channel<ScreenState, ScreenAction>;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: ScreenFeedOptions, taskId: string, channel: Channel<ScreenState, ScreenAction>) {
    this.#options = options;
    this.#taskId = taskId;
    this.#channel = channel;
    this.#lookLater();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  #lookLater(): void {
    if (this.#isDisposed) return;
    this.#timer = this.#options.clock.after(LOOK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { text, why } = await screenOf(this.#options, this.#taskId);
    if (this.#isDisposed) return;
    const before = this.#channel.state;
    if (text !== before.text || why !== before.why)
      this.#channel.dispatch({ type: 'screen.changed', text, why });
    this.#lookLater();
  }
}

/** Never rejects: what cannot be read is said in its place. */
async function screenOf({ tasks, logger }: ScreenFeedOptions, taskId: string): Promise<ScreenState> {
  try {
    const { text } = await tasks.output({ taskId, view: 'screen', maxBytes: MAX_SCREEN_BYTES });
    return { text, why: null };
  } catch (error) {
    if (error instanceof BridgeError) return { ...emptyScreen, why: error.message };
    logger.error('A screen could not be read', { taskId, error: messageOf(error) });
    return { ...emptyScreen, why: 'The screen could not be read: the log of the board has the details.' };
  }
}
