import { BridgeError } from '../base/errors.js';
import { appAnswerSchema, appOutcomeSchema, type AppAnswer, type AppOutcome } from './app-requests.js';
import { boardPlace } from './board-place.js';
import { linkToBoard, type BoardLaunch } from './launch.js';
import { askBoard, type LocalRequest } from './local-client.js';

/** An action takes as long as a call of a tool. */
const ACT_LIMIT_MS = 40_000;

/** As it came from the app: the board checks it. */
interface AppQuery {
  readonly wait_ms: number;
}

/** The board for the app in a chat: a process of its own, which is started if none runs. */
export class AppBoard {
  readonly #launch: BoardLaunch;

  constructor(launch: BoardLaunch) {
    this.#launch = launch;
  }

  /** Waits up to `wait_ms` for news. Throws as the board does, and STATE_UNUSABLE. */
  read(query: AppQuery, signal: AbortSignal): Promise<AppAnswer> {
    return this.#ask({
      path: '/read',
      body: query,
      answer: appAnswerSchema,
      waitMs: query.wait_ms,
      signal,
      isRepeatable: true,
    });
  }

  /** What became of what a person asked for. Throws as `read`. */
  act(asked: { readonly client: string; readonly action: unknown }): Promise<AppOutcome> {
    return this.#ask({
      path: '/act',
      body: asked,
      answer: appOutcomeSchema,
      waitMs: ACT_LIMIT_MS,
      isRepeatable: false,
    });
  }

  async #ask<T>(asked: LocalRequest<T>): Promise<T> {
    const { statePath, runtimePath } = this.#launch;
    const { socketPath } = boardPlace(statePath, runtimePath);
    const answer = await askBoard(socketPath, asked);
    if (answer !== undefined) return answer;
    await linkToBoard(this.#launch);
    const again = await askBoard(socketPath, asked);
    if (again !== undefined) return again;
    throw new BridgeError('STATE_UNUSABLE', 'The board ended as soon as it had started.', 'Try again.');
  }
}
