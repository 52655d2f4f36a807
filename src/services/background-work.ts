import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../base/system-clock.js';
import { messageOf } from '../base/errors.js';
import { DisposableStore, type Disposable } from '../base/lifecycle.js';
import { stateDirectory } from '../config/state-directory.js';
import type { BridgeOptions } from './options.js';
import type { ServerServices } from './server-services.js';

/** The client's first messages are answered before anything else is begun. */
const JOIN_DELAY_MS = 500;
/** The call that needed the tasks is answered before leftovers of others are looked for. */
const SWEEP_DELAY_MS = 1_000;

/** What a server does that no call asks for. Ends when disposed. */
export class BackgroundWork implements Disposable {
  readonly #options: BridgeOptions;
  readonly #services: ServerServices;
  readonly #timers = new DisposableStore();
  #sweeps = false;

  constructor(options: BridgeOptions, services: ServerServices) {
    this.#options = options;
    this.#services = services;
  }

  /** Tasks that end without a server, and those in the queue, must not wait for this server's first call. */
  joinSoon(): void {
    this.#after(JOIN_DELAY_MS, 'Running and queued tasks could not be joined', () => this.#join());
  }

  /** Once, after the first call: ends what keepers and servers left behind that were killed. */
  sweepSoon(): void {
    if (this.#sweeps) return;
    this.#sweeps = true;
    this.#after(SWEEP_DELAY_MS, 'what dead keepers left could not be swept', () => this.#sweep());
  }

  dispose(): void {
    this.#timers.dispose();
  }

  /** Loads the services only if there is something to do; a server without tasks stays small. */
  async #join(): Promise<void> {
    const { config } = this.#options;
    const { queueWaits } = await import('../tasks/queue/queue-waits.js');
    const waits = await queueWaits(stateDirectory(config, this.#options));
    if (!waits && config.on_disconnect !== 'stop') return;
    await (await this.#services.taskServices()).tasks.advanceQueue();
  }

  async #sweep(): Promise<void> {
    await (await this.#services.taskServices()).sweepLeftovers();
    if (existsSync(join(stateDirectory(this.#options.config, this.#options), 'processes')))
      await (await this.#services.processServices()).sweep();
  }

  #after(delayMs: number, failure: string, work: () => Promise<void>): void {
    const run = (): void =>
      void work().catch((error: unknown) => this.#options.logger.warn(failure, { error: messageOf(error) }));
    this.#timers.add(systemClock.after(delayMs, run));
  }
}
