import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Clock } from '../base/clock.js';
import { messageOf, systemCodeOf } from '../base/errors.js';
import { writeJsonFileAtomically } from '../base/files/json-file.js';
import type { Disposable } from '../base/lifecycle.js';
import type { Logger } from '../base/logger.js';
import { ownIdentity } from './process-identity.js';
import { processIdentitySchema, type ProcessIdentity } from './process-place.js';

/** How often an owner touches its file. */
export const HEARTBEAT_MS = 15_000;
const OWNER_ONLY = 0o700;

/** The content of a heartbeat file. */
export const heartbeatSchema = z.object({ owner: processIdentitySchema, socket_path: z.string().nullable() });

export interface HeartbeatOptions {
  readonly statePath: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The socket at which this process listens. */
  readonly socketPath?: string;
}

/**
 * The heartbeat of this process, for processes that cannot look up its pid: a file in the state directory that it touches every 15
 * seconds. Each owner of a lock, a record or a process has one.
 */
export class Heartbeat implements Disposable {
  readonly #options: HeartbeatOptions;
  readonly #owner: ProcessIdentity;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(options: HeartbeatOptions, owner: ProcessIdentity) {
    this.#options = options;
    this.#owner = owner;
    this.#path = heartbeatFile(owner, options.statePath);
    this.#timer = setInterval(() => void this.#beat(), HEARTBEAT_MS).unref();
  }

  /** When the disk refuses the file, each later beat tries again. */
  static async start(options: HeartbeatOptions): Promise<Heartbeat> {
    const heartbeat = new Heartbeat(options, await ownIdentity());
    await heartbeat.#beat();
    return heartbeat;
  }

  /** Synchronous, for a process that exits. */
  dispose(): void {
    clearInterval(this.#timer);
    rmSync(this.#path, { force: true });
  }

  async #beat(): Promise<void> {
    const { statePath, clock, logger, socketPath } = this.#options;
    const now = new Date(clock.now());
    try {
      await utimes(this.#path, now, now).catch(async (error: unknown) => {
        if (systemCodeOf(error) !== 'ENOENT') throw error;
        mkdirSync(heartbeatFolder(statePath), { recursive: true, mode: OWNER_ONLY });
        await writeJsonFileAtomically(
          this.#path,
          { owner: this.#owner, socket_path: socketPath ?? null },
          { durable: false },
        );
      });
    } catch (error) {
      logger.warn('the heartbeat of this process cannot be written', { error: messageOf(error) });
    }
  }
}

export function heartbeatFolder(statePath: string): string {
  return join(statePath, 'heartbeats');
}

export function heartbeatFile(
  { pid, start_time, boot_id, machine_id, namespace }: ProcessIdentity,
  statePath: string,
): string {
  const text = JSON.stringify([pid, start_time, boot_id, machine_id ?? null, namespace ?? null]);
  return join(
    heartbeatFolder(statePath),
    `${createHash('sha256').update(text).digest('hex').slice(0, 32)}.json`,
  );
}
