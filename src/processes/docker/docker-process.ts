import { z } from 'zod';
import { withinMs } from '../../base/clock.js';
import { ignoreBridgeError } from '../../base/errors.js';
import { notRunning, ProcessHandle, type ProcessStats } from '../process-handle.js';
import { type Container, isEnded } from './container.js';
import type { ContainerChild } from './container-child.js';
import type { DockerSpec } from './container-options.js';
import { refusalStatus } from './engine.js';

/** After SIGKILL only the kernel or the engine can hold things up. */
const AFTER_KILL_MS = 10_000;
/** All but init and the shell itself (kill(2)). Written so for busybox, which knows no `--`, and dash, which needs it behind `-s`. */
const SIGNAL_ALL = 'echo; kill "-$1" -1';
/**
 * The code of a shell that SIGKILL ended. A signal that ends the program ends the container, and the kernel with it the shell
 * that sent it, at times before that program has ended: then its empty line says that it had come to the sending.
 */
const KILLED_CODE = 137;
const NANOSECONDS = 1e9;

const statsSchema = z.object({
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: z.number() }) }),
  memory_stats: z.object({
    usage: z.number().default(0),
    stats: z
      .object({ total_inactive_file: z.number().optional(), inactive_file: z.number().optional() })
      .default({}),
  }),
  pids_stats: z.object({ current: z.number().default(0) }),
});

/** A process in a container of its own. When its first process ends, the kernel ends all others of the container. */
export class DockerProcess extends ProcessHandle {
  /** Ends when the container is gone, too, or left for the next sweep. */
  readonly removed: Promise<void>;
  readonly #container: Container;
  readonly #child: ContainerChild;
  readonly #killGraceMs: number;

  /** For a container that was started. `remove` is called once, behind the end. */
  constructor(
    spec: DockerSpec,
    parts: {
      readonly container: Container;
      readonly child: ContainerChild;
      readonly killGraceMs: number;
      readonly remove: () => Promise<void>;
    },
  ) {
    super(spec, parts.child, parts.container.engine.clock, parts.child.exited);
    this.#container = parts.container;
    this.#child = parts.child;
    this.#killGraceMs = parts.killGraceMs;
    this.removed = this.exited.then(parts.remove);
  }

  /**
   * To the program and all that came of it. Where the image has no shell, or the container may start no more processes, init gets it,
   * which passes most of them on to the program. SIGKILL ends all.
   */
  async signal(name: NodeJS.Signals): Promise<void> {
    this.mustRun();
    if (name === 'SIGKILL') this.#child.isKilledByUs = true;
    else if (await this.#signalAll(name)) return;
    await this.#container.signal(name).catch((error: unknown) => {
      throw isEnded(error) ? notRunning() : error;
    });
  }

  async kill(first: NodeJS.Signals): Promise<number> {
    this.mustRun();
    for (const name of new Set<NodeJS.Signals>([first, 'SIGTERM'])) {
      if (name === 'SIGKILL') break;
      // A signal that cannot be sent is followed by a harder one.
      await this.signal(name).catch(ignoreBridgeError);
      if ((await withinMs(this.clock, this.#killGraceMs, this.exited)) !== undefined) return 0;
    }
    await this.signal('SIGKILL').catch(ignoreBridgeError);
    return (await withinMs(this.clock, AFTER_KILL_MS, this.exited)) === undefined ? 1 : 0;
  }

  /**
   * What the engine counts for a container: processor time, memory without the cache that the kernel gives back, and tasks (threads
   * count, init does not). Its ports are those of a network of its own, and no engine reports on which it listens.
   */
  async stats(): Promise<ProcessStats> {
    this.mustRun();
    const asked: unknown = await this.#container.ask('its statistics', (one, abortSignal) => {
      const query = { stream: false, 'one-shot': true, abortSignal } as const;
      return one.stats(query);
    });
    const { cpu_stats, memory_stats, pids_stats } = statsSchema.parse(asked);
    const cache = memory_stats.stats.total_inactive_file ?? memory_stats.stats.inactive_file ?? 0;
    this.mustRun();
    return {
      cpuSeconds: cpu_stats.cpu_usage.total_usage / NANOSECONDS,
      memoryBytes: Math.max(0, memory_stats.usage - cache),
      processCount: Math.max(0, pids_stats.current - 1),
    };
  }

  async dispose(): Promise<void> {
    this.#child.dispose();
    await this.removed;
  }

  /** False when that was not possible inside, and the engine may still signal the program. */
  async #signalAll(name: NodeJS.Signals): Promise<boolean> {
    const command = ['sh', '-c', SIGNAL_ALL, 'sh', name.slice('SIG'.length)];
    try {
      const { exitCode, stdout } = await this.#container.run(command);
      return exitCode === 0 || (exitCode === KILLED_CODE && stdout !== '');
    } catch (error) {
      if (isEnded(error)) throw notRunning();
      if (refusalStatus(error) === undefined) throw error;
      return false;
    }
  }
}
